"""What mutants of a wrapper and its kernels come to, each in a fork of a worker that has loaded them."""

from __future__ import annotations

import gc
import json
import os
import signal
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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

    `outcome` is `equal` (the same bits), `rounding`, `fault` (the engine sees one without any reference), `result`
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
    subject = next((one for one in loaded(task.spec) if one.name == task.subject), None)
    if subject is None:
        return Tried((), (), "it cannot be loaded any more")
    cases = [one.case for one in task.cases]
    healthy = [executed(subject, case, _SECONDS) for case in cases]
    again = [executed(subject, case, _SECONDS) for case in cases]
    steady = [
        (case, one)
        for case, one, other in zip(cases, healthy, again, strict=True)
        if one.is_healthy and other.is_healthy and _difference(one.results, other.results) == "equal"
    ]
    if not steady:
        return Tried((), (), "its calls do not come to the same each time")
    trials, noise = [], []
    for target in task.targets:
        source = _Source(target, task.root)
        noise += source.noise()
        for mutant in mutants(source.text, target, task.seed, task.most):
            outcome, detail = _outcome(subject, steady, mutant)
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


def _outcome(subject: Subject, steady: Sequence[tuple[Case, Execution]], mutant: Mutant) -> tuple[str, str]:
    """In a process of its own; the first case that shows anything counts."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        _tell(writing, lambda: _compared(subject, steady, mutant))
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


def _compared(subject: Subject, steady: Sequence[tuple[Case, Execution]], mutant: Mutant) -> tuple[str, str]:
    if not _put_in(mutant):
        return "lost", "the function is not there to be changed"
    worst = ("equal", "")
    for case, healthy in steady:
        found = executed(subject, case, _SECONDS)
        if found.faults:
            return "fault", found.faults[0]
        if found.error:
            return found.kind, found.error
        difference = _difference(healthy.results, found.results)
        if difference == "result":
            return difference, f"{dict(case.sizes)} {case.dtype} {case.layout.value}"
        if difference == "rounding":
            worst = (difference, "")
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


def _put_in(mutant: Mutant) -> bool:
    """Change the function of this process; False where it is not to be found, or holds variables of another one."""
    return _put_in_kernel(mutant) if mutant.target.is_kernel else _put_in_wrapper(mutant)


def _put_in_kernel(mutant: Mutant) -> bool:
    from triton.runtime.jit import JITFunction

    changed = False
    for one in _objects(JITFunction):
        function = one.fn
        if function.__name__ == mutant.target.name and _is_there(function.__code__, mutant.target):
            one._unsafe_update_src(mutant.function)
            one.device_caches.clear()
            changed = True
    return changed


def _put_in_wrapper(mutant: Mutant) -> bool:
    changed = False
    for one in _objects(types.FunctionType):
        if one.__name__ == mutant.target.name and _is_there(one.__code__, mutant.target):
            made: dict[str, Any] = {}
            exec(compile(mutant.function, mutant.target.path, "exec", flags=_flags(one)), dict(one.__globals__), made)
            new = made[mutant.target.name]
            if new.__code__.co_freevars == one.__code__.co_freevars:
                one.__code__ = new.__code__
                changed = True
    return changed


def _objects(kind: type) -> Iterator[Any]:
    return (one for one in gc.get_objects() if type(one) is kind or isinstance(one, kind))


def _is_there(found: types.CodeType, target: Target) -> bool:
    """Whether the code is that of the target: its first line is that of its first decorator, or of its `def`."""
    is_same_file = os.path.realpath(found.co_filename) == os.path.realpath(target.path)
    return is_same_file and found.co_firstlineno <= target.line <= found.co_firstlineno + _MOST_DECORATED


_MOST_DECORATED = 400
"""Lines of decorators, such as an autotuner's configurations, at most."""


def _flags(function: types.FunctionType) -> int:
    """Whether annotations are evaluated, as in its module."""
    return function.__code__.co_flags & 0x1000000
