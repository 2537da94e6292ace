"""What a worker does with a recorded launch: executes it again from its record, and says what it shows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

from tritonaudit.capture.launch import Launch, Program
from tritonaudit.execute.confine import confine
from tritonaudit.execute.processes import keep_freed_memory
from tritonaudit.suites.facts import WATCHED, Symptom
from tritonaudit.suites.outcome import Place, Sighting
from tritonaudit.trace.reading import NotATrace, Trace, read_blob, read_trace
from tritonaudit.trace.recorded import Recorded, View

_ATOMIC_SUM = "tt.atomic_rmw fadd"
_MOST_DIFFERENT = 3
"""Arguments that are told to differ."""
_MOST_COUNTED = (1 << 31) - 1
"""Elements, by an int32."""


@dataclass(frozen=True)
class ReplayTask:
    """A launch of a trace, and in how many `seconds` each execution of it is to end."""

    path: Path
    number: int
    seconds: float


@dataclass(frozen=True)
class Replayed:
    """What a launch showed: `checked` are the symptoms that were looked for, `unchecked` those that were not, and why.

    Where the trace cannot be read, `damage` says why.
    """

    sightings: tuple[Sighting, ...] = ()
    checked: tuple[Symptom, ...] = ()
    unchecked: tuple[tuple[Symptom, str], ...] = ()
    seconds: float = 0.0
    damage: str = ""


def prepare() -> None:
    """Prepare this process for replaying, which needs to write nowhere."""
    import torch

    torch.set_num_threads(1)
    keep_freed_memory()
    confine()


@lru_cache(maxsize=2)
def _trace(path: Path) -> Trace:
    return read_trace(path)


def replay(task: ReplayTask) -> Replayed:
    """Execute a recorded launch: with an eye on its memory, with its programs in another order, with other configs."""
    began = time.monotonic()
    try:
        trace = _trace(task.path)
        one = next(one for one in trace.recorded if one.number == task.number)
        found = _replayed(trace, one, task.seconds)
    except NotATrace as error:
        return Replayed(damage=str(error))
    return replace(found, seconds=time.monotonic() - began)


def program_of(trace: Trace, one: Recorded) -> Program | None:
    """The program of a launch with its text. Raises NotATrace."""
    program = one.launch.program
    if program is None or not one.ttir:
        return None
    return replace(program, ttir=read_blob(trace, one.ttir).decode(errors="replace"))


def launch_of(trace: Trace, one: Recorded) -> Launch:
    """A launch with its program. Raises NotATrace."""
    return replace(one.launch, program=program_of(trace, one))


def _replayed(trace: Trace, one: Recorded, seconds: float) -> Replayed:
    launch = launch_of(trace, one)
    looked_for = (*sorted(WATCHED, key=list(Symptom).index), Symptom.NONDETERMINISTIC)
    if launch.program is None or launch.grid is None:
        why = launch.error.message if launch.error is not None else "its grid is not known"
        return Replayed(unchecked=tuple((symptom, why) for symptom in looked_for))
    run = _Run(trace, one, launch, seconds)
    if why := run.why_not:
        return Replayed(unchecked=tuple((symptom, why) for symptom in looked_for))
    first = run.executed("forward", is_checked=True)
    if isinstance(first, str):
        return Replayed(unchecked=tuple((symptom, first) for symptom in looked_for))
    sightings = list(run.sightings(first))
    beside = [other for other in trace.recorded if other.instead_of == one.number]
    others = [other for other in beside if not other.is_grown]
    looked: dict[Symptom, str] = dict.fromkeys(WATCHED, "")
    looked[Symptom.NONDETERMINISTIC] = run.compare(first, "reverse", sightings)
    looked[Symptom.OVERFLOW] = run.overflow([other for other in beside if other.is_grown], sightings)
    if others:
        reasons = [run.compare_with(first, other, sightings) for other in others]
        looked[Symptom.WRONG_RESULT] = next(filter(None, reasons), "")
    return Replayed(
        tuple(sightings),
        tuple(symptom for symptom, why in looked.items() if not why),
        tuple((symptom, why) for symptom, why in looked.items() if why),
    )


@dataclass(frozen=True, eq=False)
class _Executed:
    """What an execution showed, and left in the tensors that the program writes, by name with the place."""

    faults: Sequence[Any]
    results: Mapping[str, tuple[Any, Place]]


@dataclass(frozen=True)
class _Run:
    trace: Trace
    one: Recorded
    launch: Launch
    seconds: float

    @property
    def why_not(self) -> str:
        """Why it cannot be executed from the record; empty where it can."""
        from tritonaudit.simulator.live import module_of
        from tritonaudit.simulator.slices import place_found

        assert self.launch.program is not None
        try:
            module = module_of(self.launch.program.ttir)
        except Exception as error:  # the text may be anything
            return f"its program is not understood: {error}"
        if place_found(module) is not None:
            return "it finds tensors by addresses in memory, which a trace does not hold"
        if len(module.kernel.arguments) != len(self.one.passed):
            return "its program takes other arguments than were recorded"
        return ""

    def executed(self, order: str, *, is_checked: bool) -> _Executed | str:
        """The outcome of executing it on the arguments as they were, or why there is none."""
        import torch

        from tritonaudit.simulator.coincidence import distinguished
        from tritonaudit.simulator.engine import Run, execute
        from tritonaudit.simulator.large import execute_large, has_absent
        from tritonaudit.simulator.live import check_grid, module_of
        from tritonaudit.simulator.machine import NotSimulated
        from tritonaudit.simulator.programs import numbers_in
        from tritonaudit.simulator.slices import places_written
        from tritonaudit.simulator.watch import Watch
        from tritonaudit.trace.memory import given

        program, grid = self.launch.program, self.launch.grid
        assert program is not None
        assert grid is not None
        try:
            check_grid(self.launch)
            module, made = module_of(program.ttir), given(self.trace, self.one)
            run = Run(
                is_checked,
                numbers_in(order, prod(grid)),
                made.undefined if is_checked else None,
                Watch(self.seconds).look,
                contracts=program.contracts,
            )
            if has_absent(made.arguments):
                return _Executed(execute_large(module, grid, made.arguments, run).faults, {})
            outcome = execute(module, grid, made.arguments, run)
            faults = distinguished(outcome, module, grid, made.arguments, run).faults if is_checked else outcome.faults
        except NotATrace:
            raise
        except NotSimulated as error:
            return str(error)
        except Exception as error:  # a defect of ours, or a record that means nothing
            return f"{type(error).__name__}: {error}"
        results = {
            made.arguments[number].name: (made.arguments[number].value, (at.path, at.line, at.column))
            for number, at in places_written(module).items()
            if isinstance(made.arguments[number].value, torch.Tensor)
        }
        return _Executed(faults, results)

    def sightings(self, executed: _Executed) -> Iterator[Sighting]:
        """The faults as sightings at the user's lines."""
        from tritonaudit.suites.calling import Ran
        from tritonaudit.suites.memory import sightings_of

        yield from sightings_of(Ran(self.launch, tuple(executed.faults), site=self._site))

    @property
    def _site(self) -> tuple[str, int] | None:
        return (self.one.stack[0].path, self.one.stack[0].line) if self.one.stack else None

    @property
    def _adds_atomically(self) -> bool:
        """Whether programs add floating-point numbers to one place: what they round on the way hangs on their order."""
        return self.launch.program is not None and _ATOMIC_SUM in self.launch.program.ttir

    def compare(self, first: _Executed, order: str, sightings: list[Sighting]) -> str:
        """Add what differs when the programs run in another order; why that is not known, empty where it is."""
        again = self.executed(order, is_checked=False)
        if isinstance(again, str):
            return again
        ways = "when the programs run one way", "in another order"
        sightings += self._differences(Symptom.NONDETERMINISTIC, first, again, ways)
        return ""

    def compare_with(self, first: _Executed, other: Recorded, sightings: list[Sighting]) -> str:
        """The same for another config of the autotuner's on the same arguments."""
        run = replace(self, one=other, launch=launch_of(self.trace, other))
        if run.launch.program is None:
            return ""  # the autotuner passes it over
        if why := run.why_not:
            return why
        again = run.executed("forward", is_checked=False)
        if isinstance(again, str):
            return again
        ways = f"with {self.launch.config or 'the first config'}", f"with {other.launch.config}"
        sightings += self._differences(Symptom.WRONG_RESULT, first, again, ways)
        return ""

    def overflow(self, grown: Sequence[Recorded], sightings: list[Sighting]) -> str:
        """Add the integers that overflow where the launch has larger tensors; why that is not known, empty where it is.

        Whatever else is seen there hangs on how the launch was made larger.
        """
        for other in grown:
            run = replace(self, one=other, launch=launch_of(self.trace, other))
            if why := run.why_not:
                return why
            found = run.executed("forward", is_checked=True)
            if isinstance(found, str):
                return found
            sizes = ", ".join(
                f"{one.name} of {'x'.join(map(str, one.value.shape))}"
                for one in other.passed
                if isinstance(one.value, View) and prod(one.value.shape) > _MOST_COUNTED
            )
            for sighting in run.sightings(found):
                if sighting.symptom is Symptom.OVERFLOW:
                    sightings.append(replace(sighting, text=f"with {sizes}, {sighting.text}"))
        return "" if grown else "it is not clear how it would be launched with more than 2^31 elements"

    def _differences(
        self, symptom: Symptom, first: _Executed, again: _Executed, ways: tuple[str, str]
    ) -> Iterator[Sighting]:
        from tritonaudit.finding import Status
        from tritonaudit.suites.calling import is_same
        from tritonaudit.suites.formats import wide
        from tritonaudit.suites.tolerance import judge

        shared = [name for name in first.results if name in again.results]
        for name in shared[:_MOST_DIFFERENT]:
            (here, place), (there, _) = first.results[name], again.results[name]
            if here.shape != there.shape or is_same(here, there):
                continue
            judgement = judge(there, wide(here), here, [])
            if judgement.status is not Status.FAIL or not (judgement.exceeding or judgement.nonfinite):
                continue  # as sums in another order differ
            one, other = wide(here), wide(there)
            different = _differ(one, other)
            if not bool(different.any()):
                continue
            index = tuple(different.nonzero()[0].tolist())
            count = int(different.sum())
            text = (
                f"{name}[{', '.join(map(str, index))}] is {one[index].item():.9g} {ways[0]},"
                f" and {other[index].item():.9g} {ways[1]}; {count:,} of {different.numel():,} elements differ"
            )
            is_certain = not self._adds_atomically and self._is_written_alike(name, one, other)
            yield Sighting(symptom, self.launch.kernel, place, text, is_certain, launch=self._site)

    def _is_written_alike(self, name: str, one: Any, other: Any) -> bool:
        """Whether two executions have changed the same elements; what each block leaves in its own place differs."""
        import torch

        from tritonaudit.suites.formats import wide
        from tritonaudit.trace.memory import given

        before = wide(next(arg.value for arg in given(self.trace, self.one).arguments if arg.name == name))
        return bool(torch.equal(_differ(before, one), _differ(before, other)))


def _differ(one: Any, other: Any) -> Any:
    """Which elements of two tensors differ."""
    return (one != other) & ~(one.isnan() & other.isnan())
