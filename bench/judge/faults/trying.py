"""What mutants of a wrapper and its kernels come to, each in a fork of a worker that has loaded them."""

from __future__ import annotations
import __future__

import gc
import json
import os
import signal
import types
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.judge.executing import Execution, Noted, executed, loaded
from bench.judge.faults.mutants import Mutant, Target, mutants
from tritonaudit.config import Config
from tritonaudit.engine import text_checker

if TYPE_CHECKING:
    import torch

    from tritonaudit.subject.model import Case, Subject

_SECONDS = 12.0
_KILLED_AFTER = 40.0
_APART = {"float64": 1e-8, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""Of the largest number among them: results that are nearer differ by rounding."""
_APART_IN_8_BITS = 0.2


@dataclass(frozen=True)
class Task:
    """A subject of a file, its healthy cases, and the functions in which faults are put when it is called."""

    spec: Path
    subject: str
    cases: tuple[Noted, ...]
    targets: tuple[Target, ...]
    root: Path
    seed: int
    most: int


@dataclass(frozen=True)
class Trial:
    """What a mutant came to, and which rules tell of it in the source: those with more findings there than before.

    `outcome` is `equal` (the same bits), `harmless` (these, and programs write the same to one place, or the like),
    `rounding`, `fault` (the engine sees one without any reference), `result`
    (another one), `hang`, `compile` (Triton refuses it), `python` (an exception), or `lost`: nobody knows.
    """

    path: str
    function: str
    kernel: str
    is_kernel: bool
    operator: str
    line: int
    before: str
    after: str
    outcome: str
    detail: str
    told: tuple[str, ...]

    @property
    def is_faulty(self) -> bool:
        """Whether the engine shows that it is no more what it was."""
        return self.outcome in ("fault", "result", "hang")


@dataclass(frozen=True)
class Tried:
    """The trials of a task, and the findings on the untouched targets, each as rule and severity."""

    trials: tuple[Trial, ...]
    noise: tuple[tuple[str, str], ...]
    reason: str = ""


def try_task(task: Task) -> Tried:
    """All mutants of a task's targets; for worker processes."""
    subjects, reason = loaded(task.spec)
    subject = next((one for one in subjects if one.name == task.subject), None)
    if subject is None:
        return Tried((), (), f"{task.spec.name}: {reason or f'it has no subject {task.subject}'}")
    cases = [one.case for one in task.cases]
    healthy = [executed(subject, case, _SECONDS) for case in cases]
    again = [executed(subject, case, _SECONDS) for case in cases]
    steady = [
        (case, one)
        for case, one, other in zip(cases, healthy, again, strict=True)
        if one.is_healthy and other.is_healthy and _difference(one.results, other.results) == "equal"
    ]
    if not steady:
        return Tried((), (), f"{task.spec.name}: its calls do not come to the same each time")
    trials, noise = [], []
    gc.collect()
    gc.freeze()  # so that forks do not copy what is only counted
    for target in task.targets:
        source = _Source(target, task.root)
        noise += source.noise()
        found = _functions(target)
        for mutant in mutants(source.text, target, task.seed, task.most):
            outcome, detail = _outcome(lambda mutant=mutant, found=found: _compared(subject, steady, mutant, found))
            told = source.told(mutant) if outcome in ("fault", "result", "hang", "compile") else ()
            trials.append(_trial(mutant, outcome, detail, told))
    return Tried(tuple(trials), tuple(noise))


def _trial(mutant: Mutant, outcome: str, detail: str, told: tuple[str, ...]) -> Trial:
    target = mutant.target
    place = (target.path, target.name, target.kernel, target.is_kernel)
    return Trial(*place, mutant.operator, mutant.line, mutant.before, mutant.after, outcome, detail[:200], told)


# -- what the source says --------------------------------------------------------------------------------------------


class _Source:
    """What the rules say of a file, as it is and with a fault."""

    def __init__(self, target: Target, root: Path) -> None:
        self._target = target
        self._path = Path(target.path)
        self.text = self._path.read_text(encoding="utf-8")
        self._check = text_checker(Config(root))
        self._before = self._counted(self.text)

    def told(self, mutant: Mutant) -> tuple[str, ...]:
        """The codes of the rules with more findings in a kernel than before."""
        more = self._counted(mutant.text) - self._before
        return tuple(sorted({code for code, _ in more}))

    def noise(self) -> list[tuple[str, str]]:
        """The findings on the untouched kernel, where that is the target."""
        found = self._check(self.text.encode(), self._path).findings if self._target.is_kernel else ()
        return [(one.code, one.severity.value) for one in found if one.kernel == self._target.name]

    def _counted(self, text: str) -> Counter[tuple[str, str]]:
        return Counter((one.code, one.kernel or "") for one in self._check(text.encode(), self._path).findings)


# -- what a call comes to --------------------------------------------------------------------------------------------


def _outcome(compared: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """What it says in a process of its own."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        _tell(writing, compared)
    os.close(writing)
    said = _heard(reading, process)
    try:
        outcome, detail = json.loads(said)
    except ValueError:
        return "lost", "the process died"
    return outcome, detail


def _tell(writing: int, work: Callable[[], tuple[str, str]]) -> None:
    """From the forked process, which ends."""
    try:
        signal.alarm(int(_KILLED_AFTER))
        os.write(writing, json.dumps(work()).encode())
    except BaseException as error:
        os.write(writing, json.dumps(("lost", f"{type(error).__name__}: {error}"[:200])).encode())
    finally:
        os._exit(0)


def _heard(reading: int, process: int) -> str:
    with os.fdopen(reading, "rb") as file:
        said = file.read()
    os.waitpid(process, 0)
    return said.decode()


def _compared(
    subject: Subject, steady: Sequence[tuple[Case, Execution]], mutant: Mutant, functions: Sequence[Any]
) -> tuple[str, str]:
    """The first case that shows anything counts."""
    if not _put_in(mutant, functions):
        return "lost", "the function is not there to be changed"
    worst = ("equal", "")
    for case, healthy in steady:
        found = executed(subject, case, _SECONDS, to_first_fault=True)
        if found.faults:
            return "fault", found.faults[0]
        if found.error:
            return found.kind, found.error
        difference = _difference(healthy.results, found.results)
        if difference == "result":
            return difference, f"{dict(case.sizes)} {case.dtype} {case.layout.value}"
        if difference == "rounding":
            worst = (difference, "")
        elif worst[0] == "equal" and found.remarks - healthy.remarks:
            worst = ("harmless", min(found.remarks - healthy.remarks))
    return worst


def _difference(wanted: Sequence[torch.Tensor], found: Sequence[torch.Tensor]) -> str:
    """`equal`, `rounding` or `result`."""
    if [(one.shape, one.dtype) for one in wanted] != [(one.shape, one.dtype) for one in found]:
        return "result"
    return max((_between(one, other) for one, other in zip(wanted, found, strict=True)), key=_ORDER.index)


_ORDER = ("equal", "rounding", "result")


def _between(one: torch.Tensor, other: torch.Tensor) -> str:
    if one.shape.numel() == 0:
        return "equal"
    if not one.dtype.is_floating_point:
        return "equal" if bool((one == other).all()) else "result"
    wide, found = one.double().contiguous(), other.double().contiguous()
    if bool((wide.isnan() != found.isnan()).any()) or bool((wide.isinf() != found.isinf()).any()):
        return "result"
    wide, found = wide.nan_to_num(0.0, 1e30, -1e30), found.nan_to_num(0.0, 1e30, -1e30)
    apart = float((wide - found).abs().max())
    if apart == 0:
        return "equal"
    share = _APART.get(str(one.dtype).removeprefix("torch."), _APART_IN_8_BITS)
    return "result" if apart > share * float(wide.abs().max()) else "rounding"


# -- putting a fault in ----------------------------------------------------------------------------------------------


def _functions(target: Target) -> Sequence[Any]:
    """What stands for the target in this process: kernels of Triton's, or functions of Python's."""
    from triton.runtime.jit import JITFunction

    kind = JITFunction if target.is_kernel else types.FunctionType
    gc.unfreeze()
    alike = [one for one in gc.get_objects() if type(one) is kind]
    gc.freeze()
    return [one for one in alike if _is_there(one.fn.__code__ if target.is_kernel else one.__code__, target)]


def _put_in(mutant: Mutant, functions: Sequence[Any]) -> bool:
    """Change the functions in this process; False where there are none, or they hold variables of another one."""
    put_in = _put_in_kernel if mutant.target.is_kernel else _put_in_wrapper
    return sum(put_in(mutant, one) for one in functions) > 0


def _put_in_kernel(mutant: Mutant, kernel: Any) -> bool:
    kernel._unsafe_update_src(mutant.function)
    kernel.device_caches.clear()
    return True


def _put_in_wrapper(mutant: Mutant, function: types.FunctionType) -> bool:
    made: dict[str, Any] = {}
    flags = function.__code__.co_flags & _ANNOTATIONS
    exec(compile(mutant.function, mutant.target.path, "exec", flags=flags), dict(function.__globals__), made)
    new = made[mutant.target.name]
    if new.__code__.co_freevars != function.__code__.co_freevars:
        return False
    function.__code__ = new.__code__
    return True


def _is_there(found: types.CodeType, target: Target) -> bool:
    """Whether the code is that of the target: its first line is that of its first decorator, or of its `def`."""
    is_near = found.co_firstlineno <= target.line <= found.co_firstlineno + _MOST_DECORATED
    is_alike = found.co_name == target.name and is_near
    return is_alike and os.path.realpath(found.co_filename) == os.path.realpath(target.path)


_MOST_DECORATED = 400
"""Lines of decorators, such as an autotuner's configurations, at most."""
_ANNOTATIONS = __future__.annotations.compiler_flag
"""Whether annotations are evaluated, as in its module."""
