"""What mutants of a wrapper and its kernels come to, in forks of a worker that has loaded them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.judge.choosing import Used, used_calls
from bench.judge.executing import Execution, difference, executed, loaded
from bench.judge.faults.arms import unseen_arms
from bench.judge.faults.fills import Lanes, with_extremes
from bench.judge.faults.mutants import Mutant, Target, mutants
from bench.judge.faults.programs import Programs, built_once
from bench.judge.faults.putting import functions_of, put_in
from bench.judge.forked import Outcome, outcomes, ready_to_fork
from bench.judge.noted import Noted
from bench.judge.reaching import Line

if TYPE_CHECKING:
    from tritonaudit.subject.model import Subject

_SECONDS, _SLOWER = 4.0, 20
"""What a call with a fault may take, and so many times longer than without."""


@dataclass(frozen=True)
class Task:
    """A subject of a file, healthy calls of it, and the functions in which faults are put when it is called.

    `chosen` are the calls that an earlier run has chosen; where there are none, they are looked for.
    """

    spec: Path
    subject: str
    known: tuple[Noted, ...]
    targets: tuple[Target, ...]
    root: Path
    seed: int
    most: int
    chosen: tuple[Noted, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Chosen:
    """The calls that were chosen for a task."""

    calls: tuple[Noted, ...] = ()


@dataclass(frozen=True)
class Trial:
    """What a mutant came to, and which rules tell of it in the source: those with more findings there than before.

    `number` are those of its target, and its own among those of the target. `outcome` is `alike` (the same bits in all
    calls that were tried, which says nothing of others), `equal` (these, and it is shown that others give them, too),
    `harmless` (the same bits, and programs write the same to one place, or the like), `rounding`, `fault` (the engine
    sees one without any reference), `result` (another one), `hang`, `compile` (Triton refuses it), `python` (an
    exception), `unreached` (in no call that was tried the changed code ran, or it was compiled to the same), or `lost`:
    nobody knows.
    """

    path: str
    function: str
    kernel: str
    is_kernel: bool
    number: tuple[int, int]
    operator: str
    line: int
    before: str
    after: str
    outcome: str
    detail: str
    detected: tuple[str, ...] = ()

    @property
    def is_faulty(self) -> bool:
        """Whether the engine shows that it is no more what it was."""
        return self.outcome in ("fault", "result", "hang")


@dataclass(frozen=True)
class Tried:
    """The trials of a task, and the calls in which they were made; `seconds` of processor time it took."""

    trials: tuple[Trial, ...]
    calls: tuple[Noted, ...] = ()
    reason: str = ""
    seconds: float = 0.0


def try_task(task: Task) -> Tried:
    """All mutants of a task's targets; for worker processes."""
    began = sum(_times())
    subjects, reason = loaded(task.spec)
    subject = next((one for one in subjects if one.name == task.subject), None)
    if subject is None:
        return Tried((), (), f"{task.spec.name}: {reason or f'it has no subject {task.subject}'}")
    with built_once() as programs:
        calls = used_calls(subject, task.known, task.root, task.chosen)
        if not calls:
            return Tried((), (), f"{task.spec.name}: its calls do not come to the same each time")
        trying = _Trying(subject, calls, programs, task.targets)
        with ready_to_fork():
            trials = tuple(_trials(task, trying))
    return Tried(trials, tuple(one.noted for one in calls), "", round(sum(_times()) - began, 2))


def _times() -> tuple[float, float, float, float]:
    """Of this process and of those that have ended."""
    return os.times()[:4]


def _trials(task: Task, trying: _Trying) -> Iterator[Trial]:
    known: dict[object, Outcome] = {}  # what launches several kernels is a target for each of them
    for at, target in enumerate(task.targets):
        made = list(mutants(_text(target.path), target, task.seed, task.most))
        new = [one for one in made if _key(one) not in known]
        known.update(zip(map(_key, new), trying.outcomes(new), strict=True))
        for number, mutant in enumerate(made):
            outcome, detail = known[_key(mutant)]
            place = (target.path, target.name, target.kernel, target.is_kernel, (at, number))
            yield Trial(*place, mutant.operator, mutant.line, mutant.before, mutant.after, outcome, detail[:300])


def _key(mutant: Mutant) -> object:
    target = mutant.target
    return target.path, target.name, target.line, target.is_kernel, mutant.operator, mutant.lines, mutant.text


class _Trying:
    """A subject and its calls, with faults put in."""

    def __init__(self, subject: Subject, calls: Sequence[Used], programs: Programs, targets: Sequence[Target]) -> None:
        self._subject = subject
        self._calls = calls
        self._programs = programs
        self._functions = functions_of(targets, programs)

    def outcomes(self, made: Sequence[Mutant]) -> Iterator[Outcome]:
        """What each comes to."""
        return outcomes(self._outcome, made, self._is_whole)

    def _is_whole(self) -> bool:
        """Whether the untouched functions still give what they gave."""
        first = self._calls[0]
        return _is_as_healthy(first, executed(self._subject, first.noted, _seconds(first)))

    def _outcome(self, mutant: Mutant) -> Outcome:
        functions = self._functions[mutant.target]
        if not functions and mutant.target.is_kernel:
            return "unreached", "no call launches it"
        with put_in(mutant, functions, self._programs) as is_in:
            if not is_in:
                return "lost", "the function is not there to be changed"
            return self._compared(mutant, functions)

    def _compared(self, mutant: Mutant, functions: Sequence[Any]) -> Outcome:
        """The first call that shows anything counts."""
        worst, reached = ("equal", ""), []
        for call in self._calls:
            if mutant.target.is_kernel and self._programs.are_same(_texts(call), functions):
                continue
            if _is_reached(mutant, call):
                reached.append(call)
            said, detail = _said(self._subject, call)
            if said in ("rounding", "harmless"):
                worst = (said, detail) if worst[0] != "rounding" else worst
            elif said != "equal":
                return said, detail
        if not reached and worst[0] == "equal":
            return "unreached", f"in none of {len(self._calls)} calls"
        return self._alike(mutant, reached) if worst[0] == "equal" else worst

    def _alike(self, mutant: Mutant, reached: Sequence[Used]) -> Outcome:
        """Of a mutant that has no effect in all calls, whether it is shown to have none in any."""
        if not mutant.is_of_fill:
            return "alike", f"in {len(reached)} calls"
        lines, path = _changed(mutant), mutant.target.path
        ran = [{line for file, line in one.reached.ran if file == path} for one in self._calls]
        arms = list(unseen_arms(_text(path), mutant.target, {line for _, line in lines}, ran))
        if arms:
            return "alike", f"no call went through both arms at line {', '.join(map(str, arms[:_MOST_NAMED]))}"
        are_shown = [self._is_shown(call, lines) for call in reached]
        if False in are_shown:
            return "alike", "results depend on what left-out lanes hold"
        return ("equal", "whatever left-out lanes hold") if True in are_shown else ("alike", "no lanes are left out")

    def _is_shown(self, call: Used, lines: frozenset[Line]) -> bool | None:
        """Whether no result depends on the lanes that loads at the lines leave out, but some on those they take in.

        None where the call does not tell.
        """
        left_out = self._as_healthy(call, Lanes(lines, are_left_out=True))
        if not all(left_out):
            return False
        return True if left_out and not all(self._as_healthy(call, Lanes(lines, are_left_out=False))) else None

    def _as_healthy(self, call: Used, lanes: Lanes) -> list[bool]:
        """Whether each extreme in the lanes comes to what the call comes to without a fault."""
        return [_is_as_healthy(call, one) for one in with_extremes(self._subject, call.noted, _seconds(call), lanes)]


def _is_as_healthy(call: Used, found: Execution) -> bool:
    return not found.error and not found.faults and difference(call.healthy.results, found.results) == "equal"


_MOST_NAMED = 4


def _changed(mutant: Mutant) -> frozenset[Line]:
    """The lines of the statement with the fault, as far as it has them before and after."""
    first, last = mutant.lines
    fewer = max(0, mutant.before.count("\n") - mutant.after.count("\n"))
    return frozenset((mutant.target.path, line) for line in range(first, max(first, last - fewer) + 1))


@lru_cache(maxsize=4)
def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def _said(subject: Subject, call: Used) -> Outcome:
    """What a call comes to, against what it comes to without a fault."""
    found = executed(subject, call.noted, _seconds(call), to_first_fault=True)
    if found.faults:
        return "fault", f"{found.faults[0]}: {call.noted.label}"
    if found.error:
        return found.kind, f"{found.error}: {call.noted.label}"
    said = difference(call.healthy.results, found.results)
    more = found.remarks - call.healthy.remarks
    if said == "equal" and more:
        return "harmless", min(more)
    return said, call.noted.label


def _seconds(call: Used) -> float:
    return _SECONDS + _SLOWER * call.seconds


def _texts(call: Used) -> set[str]:
    programs = (one.launch.program for one in call.healthy.launches)
    return {program.ttir for program in programs if program is not None}


def _is_reached(mutant: Mutant, call: Used) -> bool:
    """Whether something of the statement with the fault runs in the call; of a kernel's constants nothing is seen."""
    first, last = mutant.lines
    lines = {(mutant.target.path, line) for line in range(first, last + 1)}
    if not lines & call.reached.ran:
        return mutant.target.is_kernel and not lines & call.reached.located
    return True
