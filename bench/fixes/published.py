"""What safe fixes of published kernels come to when these are launched, before and after; for worker processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.fixes.making import PUBLISHED, Made, made_of
from bench.fixes.putting import put_in
from bench.judge.executing import Execution, difference, executed, loaded
from bench.judge.faults.mutants import Target
from bench.judge.faults.programs import Programs, built_once
from bench.judge.faults.putting import functions_of
from bench.judge.forked import outcomes, ready_to_fork
from bench.judge.noted import Arguments, Noted

if TYPE_CHECKING:
    import torch

    from tritonaudit.subject.model import Subject

_SECONDS = 60.0
_ROUNDING = ("TAN101",)
"""Rules whose fixes round less than the kernel as it was published, or elsewhere."""
_NEAR = 2e-2
"""Of the largest number among them: what a sum that is rounded to 16 bits at its end may be off by."""
_LESS = 4
"""So many times nearer are results that are fixed."""


@dataclass(frozen=True)
class Task:
    """A subject of a file, a call of it in which nothing is wrong, and kernels that it launches, each with a number."""

    spec: Path
    subject: str
    noted: Noted
    kernels: tuple[tuple[str, str, int, int], ...]
    root: Path
    most: int


@dataclass(frozen=True)
class Trial:
    """A kernel with a finding, and what it came to.

    `outcome` is `fixed` (wrong before, right after), `unchanged` (what it was, before and after), `changed` (as it was
    published it comes to something else than with its fix), `wrong` (after it), or `not run`; `detail` says how or why.
    `problem` is what the check of the fixed text tells that it should not.
    """

    path: str
    kernel: str
    line: int
    rule: str
    seed: str
    outcome: str
    detail: str = ""
    problem: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether the fix does not fix what it should, or not all."""
        return self.outcome == "wrong" or bool(self.problem)


@dataclass(frozen=True)
class Tried:
    """The trials of a task, or why there are none."""

    trials: tuple[Trial, ...]
    reason: str = ""


@dataclass(frozen=True)
class Moved(Noted):
    """A call whose numbers are all about -200, or all positive and large."""

    how: str = "low"

    @property
    def label(self) -> str:
        return f"{super().label} {self.how}"

    def arguments(self, subject: Subject) -> Arguments:
        from tritonaudit.subject.varying import each_tensor

        change = {"low": _low, "large": _large}[self.how]
        return each_tensor(super().arguments(subject), lambda _, tensor: _of_floats(tensor, change))


def _low(numbers: torch.Tensor) -> torch.Tensor:
    return numbers - 200


def _large(numbers: torch.Tensor) -> torch.Tensor:
    return numbers.abs() * 8 + 1


def _of_floats(tensor: torch.Tensor, change: Any) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    return change(tensor.detach().float()).to(tensor.dtype).requires_grad_(tensor.requires_grad)  # type: ignore[no-any-return]


def try_fixes(task: Task) -> Tried:
    """Every finding of the task's kernels, as they are and with faults put in, and its safe fix, in the call."""
    made = [
        one
        for path, name, line, number in task.kernels
        for one in made_of(Target(path, name.rpartition(".")[2], line, name, True), number, task.most)
    ]
    if not made:
        return Tried((), f"{task.spec.name}: no fault of its kernels is found with a safe fix")
    subjects, reason = loaded(task.spec)
    subject = next((one for one in subjects if one.name == task.subject), None)
    if subject is None:
        return Tried((), f"{task.spec.name}: {reason or f'it has no subject {task.subject}'}")
    with built_once() as programs:
        calls = list(_healthy(subject, task.noted, {one.rule for one in made}))
        if not calls:
            return Tried((), f"{task.spec.name}: there is a fault in its call today")
        trying = _Trying(subject, calls, programs, functions_of([one.target for one in made], programs))
        with ready_to_fork():
            found = list(outcomes(trying.outcome, made, trying.is_whole))
    return Tried(tuple(_trial(one, *said) for one, said in zip(made, found, strict=True)))


def _trial(made: Made, outcome: str, detail: str) -> Trial:
    target = made.target
    said = "not run" if outcome == "lost" else outcome
    return Trial(target.path, target.name, target.line, made.rule, made.seed, said, detail, made.problem)


def _healthy(subject: Subject, noted: Noted, rules: set[str]) -> Iterator[tuple[Noted, Execution]]:
    """The call, and those whose numbers show what these rules tell of, as far as nothing is wrong in them."""
    shown = {"TAN105": "low", "TAN101": "large"}
    given = {name: getattr(noted, name) for name in noted.__dataclass_fields__}
    for one in (noted, *(Moved(**given, how=how) for rule, how in shown.items() if rule in rules)):
        found = executed(subject, one, _SECONDS)
        if found.is_healthy:
            yield one, found


class _Trying:
    """A subject and its calls, with texts of kernels put in."""

    def __init__(
        self,
        subject: Subject,
        calls: Sequence[tuple[Noted, Execution]],
        programs: Programs,
        functions: dict[Target, list[Any]],
    ) -> None:
        self._subject, self._calls, self._programs, self._functions = subject, calls, programs, functions

    def is_whole(self) -> bool:
        """Whether the untouched functions still give what they gave."""
        noted, healthy = self._calls[0]
        again = executed(self._subject, noted, _SECONDS)
        return again.is_healthy and difference(healthy.results, again.results) == "equal"

    def outcome(self, made: Made) -> tuple[str, str]:
        """What a fix comes to; that of the call which shows most."""
        functions = self._functions[made.target]
        if not functions:
            return "not run", "the call launches another function of its name"
        if not made.is_executable:
            return "not run", "the fix is outside the kernel"
        found = [self._in(call, made, functions) for call in self._calls]
        return min(found, key=lambda one: _ORDER.index(one[0]))

    def _in(self, call: tuple[Noted, Execution], made: Made, functions: Sequence[Any]) -> tuple[str, str]:
        noted, healthy = call
        before = healthy if made.seed == PUBLISHED else self._run(noted, made.before, (), functions)
        after = self._run(noted, made.after, made.imports, functions)
        if after.error or after.faults:
            return "wrong", f"{_said(after)}; before: {_said(before)}; {noted.label}"
        far = _apart(made.rule, healthy, after)
        if far:
            said = "changed" if made.seed == PUBLISHED else "wrong"
            return said, f"after: {far}; before: {_said(before) or _apart(made.rule, healthy, before)}; {noted.label}"
        was = _said(before) or _nearer(healthy, before, after)
        return ("fixed", f"before: {was}; {noted.label}") if was else ("unchanged", noted.label)

    def _run(self, noted: Noted, text: str, imports: Sequence[str], functions: Sequence[Any]) -> Execution:
        with put_in(text, imports, functions, self._programs):
            return executed(self._subject, noted, _SECONDS, to_first_fault=True)


_ORDER = ("wrong", "changed", "fixed", "unchanged", "not run")


def _said(found: Execution) -> str:
    """Why a call did not come to a result, or the fault that the engine sees; empty where it did."""
    return found.faults[0] if found.faults else f"{found.kind}: {found.error}"[:200] if found.error else ""


def _apart(rule: str, healthy: Execution, found: Execution) -> str:
    """How results differ from those of the published kernel; empty where they do not by more than they may."""
    said = difference(healthy.results, found.results)
    if said in ("equal", "rounding"):
        return ""
    shapes = [[(one.shape, one.dtype) for one in run.results] for run in (healthy, found)]
    if shapes[0] != shapes[1]:
        return "other shapes"
    far = _furthest(healthy, found)
    return "" if rule in _ROUNDING and far <= _NEAR else f"off by {far:.2g} of the largest"


def _nearer(healthy: Execution, before: Execution, after: Execution) -> str:
    """How results were off before, where they are much less so after."""
    if difference(healthy.results, before.results) != "result":
        return ""
    if [one.shape for one in healthy.results] != [one.shape for one in before.results]:
        return "other shapes"
    was, far = (_furthest(healthy, one) for one in (before, after))
    return f"off by {was:.2g} of the largest" if was > _LESS * far else ""


def _furthest(healthy: Execution, found: Execution) -> float:
    return max(_distance(one, other) for one, other in zip(healthy.results, found.results, strict=True))


def _distance(wanted: torch.Tensor, found: torch.Tensor) -> float:
    if not wanted.numel():
        return 0.0
    one, other = (tensor.detach().double().contiguous() for tensor in (wanted, found))
    if bool((one.isfinite() != other.isfinite()).any()):
        return float("inf")
    one, other = one.nan_to_num(0.0, 0.0, 0.0), other.nan_to_num(0.0, 0.0, 0.0)
    return float((one - other).abs().max() / one.abs().max().clamp(min=1e-30))
