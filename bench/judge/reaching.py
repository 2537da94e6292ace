"""What a call of a wrapper reaches: lines, arms, rounds of loops, programs along axes, numbers that differ.

Imports torch where it is called.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, permutations
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from bench.judge.executing import Execution, called

if TYPE_CHECKING:
    from bench.judge.noted import Noted
    from tritonaudit.capture.launch import Launch
    from tritonaudit.simulator.ir import Block, Location, Module, Operation
    from tritonaudit.simulator.machine import Frame, Handler, Machine
    from tritonaudit.subject.model import Subject

Line = tuple[str, int]
Feature = tuple[str, ...]

WEIGHTS = {"less": 0.05, "sizes": 0.3, "rounds": 2.0, "axis": 2.0, "type": 0.3}
"""What it is worth that a call reaches something of a kind first, where that is not 1."""
_MASKS = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2}
"""The group of operands in which an access has its mask."""


@dataclass(frozen=True, eq=False)
class Reached:
    """What a call came to, and what it reached.

    `ran` are the lines of which something ran, in kernels and in the files of the package; `located` are those from
    which some operation of a launched program comes, whether it ran or not. `loops` is what would be reached if all
    loops took several rounds.
    """

    execution: Execution
    features: frozenset[Feature]
    ran: frozenset[Line]
    located: frozenset[Line]
    loops: frozenset[Feature]


def reached(subject: Subject, one: Noted, seconds: float, root: Path) -> Reached:
    """Call the wrapper, every launch on the CPU engine with its checks, and see what that reaches."""
    from tritonaudit.simulator.fresh import FreshMemory

    fresh = FreshMemory()
    reaching = _Reaching(fresh)
    with _traced(str(root)) as lines:
        results, error, kind = called(subject, one, seconds, fresh, reaching.launch)
    features = reaching.features | {("line", *map(str, line)) for line in chain(lines, reaching.ran)}
    execution = Execution(tuple(results), tuple(reaching.launches), error, kind)
    ran, located = frozenset(reaching.ran | lines), frozenset(reaching.located)
    return Reached(execution, frozenset(features), ran, located, frozenset(reaching.loops))


def worth(features: frozenset[Feature]) -> float:
    """What it is worth to have reached these."""
    return sum(WEIGHTS.get(one[0], 1.0) for one in features)


@contextmanager
def _traced(root: str) -> Iterator[set[Line]]:
    """The lines of Python below a folder that run meanwhile."""
    lines: set[Line] = set()

    def line_of(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return line_of

    def call_of(frame: FrameType, _: str, __: Any) -> Any:
        return line_of if frame.f_code.co_filename.startswith(root) else None

    before = sys.gettrace()
    sys.settrace(call_of)
    try:
        yield lines
    finally:
        sys.settrace(before)


class _Reaching:
    """Executes launches, and notes what they reach."""

    def __init__(self, fresh: Any) -> None:
        self._fresh = fresh
        self.launches: list[Any] = []
        self.features: set[Feature] = set()
        self.ran: set[Line] = set()
        self.located: set[Line] = set()
        self.loops: set[Feature] = set()

    def launch(self, launch: Launch, bound: Mapping[str, Any]) -> None:
        """Execute one. Raises NotSimulated, and NoProgram where there is nothing to execute."""
        from tritonaudit.simulator.coincidence import distinguished
        from tritonaudit.simulator.engine import Run, execute
        from tritonaudit.simulator.live import Executed, begun

        with begun(launch, bound) as (program, module, grid, arguments):
            noting = _Noting(self, launch, module)
            run = Run(undefined=self._fresh.undefined, contracts=program.contracts, handlers=noting.wrapped)
            outcome = execute(module, grid, arguments, run)
            outcome = distinguished(outcome, module, grid, arguments, run)
        self.features.update(_of_launch(launch))
        self.launches.append(Executed(launch, outcome))


def _of_launch(launch: Launch) -> Iterator[Feature]:
    """What a launch shows from outside."""
    kernel = f"{launch.kernel.path}:{launch.kernel.line}"
    kinds = dict(launch.signature)
    for axis, size in zip("xyz", launch.grid or (), strict=False):
        if size > 1:
            yield "axis", kernel, axis
    numbers = {}
    for name, value in launch.arguments:
        if isinstance(value, (bool, str)) or value is None:
            yield "option", kernel, name, repr(value)
        elif isinstance(value, int):
            numbers[name] = value
        elif isinstance(value, float):
            yield "option", kernel, name, str(value) if value in (0.0, 1.0) else "another"
        else:
            yield "option", kernel, name, "given"
            yield "type", kernel, name, kinds.get(name, "")
    for (name, value), (other, less) in permutations(numbers.items(), 2):
        if less < value:
            yield "less", kernel, other, name


class _Noting:
    """Notes of each operation of a launch that it runs, how often loops go round, and which lanes masks leave out."""

    def __init__(self, to: _Reaching, launch: Launch, module: Module) -> None:
        self._to = to
        self._kernel = f"{launch.kernel.path}:{launch.kernel.line}"
        self._lines: dict[int, tuple[Line, ...]] = {}
        self._first: dict[int, int] = {}
        self._rounds: dict[int, int] = {}
        self._seen: set[tuple[int, bool]] = set()
        for function in module.functions:
            for block in function.region.blocks:
                self._index(block)
        to.located.update(chain.from_iterable(self._lines.values()))

    def _index(self, block: Block) -> None:
        for operation in block.operations:
            self._lines[id(operation)] = tuple(lines_of(operation.location))
            for region in operation.regions:
                for inner in region.blocks:
                    self._index(inner)
            if operation.name in ("scf.for", "scf.while"):
                self._first[id(operation)] = id(operation.regions[-1].blocks[0].operations[0])
                self._to.loops.add(self._several(operation))

    def _several(self, loop: Operation) -> Feature:
        return ("rounds", self._kernel, *map(str, self._lines[id(loop)][:1]))

    def wrapped(self, known: Mapping[str, Handler]) -> Mapping[str, Handler]:
        """The handlers, which note besides."""
        return {name: self._noting(name, handler) for name, handler in known.items()}

    def _noting(self, name: str, handler: Handler) -> Handler:
        def execute(machine: Machine, operation: Operation, frame: Frame) -> tuple[Any, ...]:
            key = id(operation)
            lines = self._lines.get(key, ())
            self._to.ran.update(lines)
            if key in self._rounds:
                self._rounds[key] += 1
            if key in self._first:
                self._rounds[self._first[key]] = 0
            if name in _MASKS:
                self._mask(operation, frame, _MASKS[name])
            if name == "tt.store":
                self._stored(operation, frame)
            result = handler(machine, operation, frame)
            if key in self._first and self._rounds[self._first[key]] > 1:
                self._to.features.add(self._several(operation))
            return result

        return execute

    def _mask(self, operation: Operation, frame: Frame, group: int) -> None:
        number = operation.operand(group)
        if number is None or len(self._seen & {(id(operation), True), (id(operation), False)}) == 2:
            return
        mask = frame.tensor(number)
        for truth in (True, False):
            if bool((mask if truth else ~mask).any()):
                self._seen.add((id(operation), truth))
                lines = self._lines[id(operation)]
                self._to.features.add(("masked", self._kernel, *map(str, lines[:1]), str(truth)))

    def _stored(self, operation: Operation, frame: Frame) -> None:
        """Whether numbers are stored that tell something: two at least, which differ."""
        feature = ("stored", self._kernel, *map(str, self._lines[id(operation)][:1]))
        number = operation.operand(1)
        if number is not None and feature not in self._to.features and frame.type(number).is_float:
            values = frame.tensor(number).float()
            known = values[values.isfinite() & (values != 0)]
            if known.numel() > 1 and bool((known != known[0]).any()):
                self._to.features.add(feature)


def lines_of(location: Location | None) -> Iterator[Line]:
    for one in (location, *location.callers) if location is not None else ():
        yield one.path, one.line
