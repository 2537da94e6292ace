"""Launches on tensors that do not fit into memory: where their accesses go, for some of the programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from typing import Any

import torch

from tritonaudit.capture.imagined import is_hollow
from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.engine import Argument, Outcome, Run, execute
from tritonaudit.simulator.faults import Fault
from tritonaudit.simulator.ir import Module, Operation, Type
from tritonaudit.simulator.loads_stores import HANDLERS
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.memory import position_of
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.programs import Grid
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.values import Value, mask_tensor

_FAR = 1 << 31
"""Elements: what an int32 cannot count."""
_LINE = 16
"""Programs that are looked at along a line, or between two that differ, before it is known which are decisive."""
_MOST_GAPS = 4
_WRAPPED, _ABOVE, _BELOW = 1, 2, 4


def has_absent(arguments: Sequence[Argument]) -> bool:
    """Whether a tensor among them has no memory."""
    return any(isinstance(one.value, torch.Tensor) and is_hollow(one.value) for one in arguments)


def execute_large(module: Module, grid: Grid, arguments: Sequence[Argument], run: Run) -> Outcome:
    """Execute some programs of a launch as far as their accesses depend on what is known; no tensor is changed.

    They are those that `run.order` names, or, where it names all of them, the grid's corners, those on both sides of
    where an offset passes what an int32 counts, and one with each fault that is met on the way. Raises NotSimulated.
    """
    run = replace(run, is_checked=True, is_partial=True, contracts=False)
    total = prod(grid)
    if run.order is None or len(run.order) == total:
        chosen = _decisive(module, grid, arguments, run) if total > _LINE else range(total)
        run = replace(run, order=torch.tensor(sorted(chosen), dtype=torch.int64))
    return execute(module, grid, arguments, run)


# -- which programs ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    """The programs along one axis of a grid: the others have those ids."""

    grid: Grid
    axis: int
    ids: Grid

    def number(self, place: int) -> int:
        ids = [place if axis == self.axis else one for axis, one in enumerate(self.ids)]
        return ids[0] + self.grid[0] * (ids[1] + self.grid[1] * ids[2])


_Gap = tuple[_Line, int, int]
"""Two places of a line between which something changes."""


def _decisive(module: Module, grid: Grid, arguments: Sequence[Argument], run: Run) -> set[int]:
    """The programs that show what there is to see."""
    lines = list(_lines(grid))
    chosen = {line.number(place) for line in lines for place in (0, grid[line.axis] - 1)}
    known: set[Any] = set()
    gaps: list[_Gap] = [(line, 0, grid[line.axis] - 1) for line in lines]
    while gaps:
        between = [(line, _spread(low, high)) for line, low, high in gaps]
        survey = _Survey(torch.tensor(sorted({line.number(place) for line, places in between for place in places})))
        for fault in survey.faults(module, grid, arguments, run):
            if (met := (fault.kind, fault.location, fault.tensor)) not in known:
                known.add(met)
                chosen.add(_number(grid, fault.program))
        changes = [(line, *pair) for line, places in between for pair in survey.changes(line, places)]
        for line, low, high in changes:
            if high - low == 1:
                chosen |= {line.number(low), line.number(high)}
        gaps = [gap for gap in changes if gap[2] - gap[1] > 1][:_MOST_GAPS]
    return chosen


def _lines(grid: Grid) -> Iterator[_Line]:
    """Those that leave the first and the last program along an axis."""
    last = (grid[0] - 1, grid[1] - 1, grid[2] - 1)
    for axis, size in enumerate(grid):
        if size > 1 or prod(grid) == 1:
            yield _Line(grid, axis, (0, 0, 0))
            if size < prod(grid):
                yield _Line(grid, axis, last)


def _spread(low: int, high: int) -> list[int]:
    """Places from the low one to the high one, evenly."""
    count = min(_LINE, high - low + 1)
    return sorted({low + (high - low) * step // max(count - 1, 1) for step in range(count)})


def _number(grid: Grid, ids: Grid) -> int:
    return ids[0] + grid[0] * (ids[1] + grid[1] * ids[2])


# -- what they do ------------------------------------------------------------------------------------------------------


class _Enough(Exception):
    """All programs of a chunk, the one of the number `last` at its end, overflow: nothing more is to be seen there."""

    def __init__(self, last: int) -> None:
        self.last = last


@dataclass(frozen=True, eq=False)
class _Survey:
    """What each of some programs does at each access: whether its offsets overflow, or are far from the start."""

    numbers: torch.Tensor
    seen: dict[int, torch.Tensor] = field(default_factory=dict)

    def faults(self, module: Module, grid: Grid, arguments: Sequence[Argument], run: Run) -> list[Fault]:
        """Execute the programs, each chunk of them until all have overflowed; the faults of those that have not."""
        found: list[Fault] = []
        rest = self.numbers
        while len(rest):
            try:
                outcome = execute(module, grid, arguments, replace(run, order=rest, handlers=self.watching))
            except _Enough as enough:
                rest = rest[rest > enough.last]
            else:
                found += [*outcome.faults, *outcome.undecided]
                break
        return found

    def watching(self, known: Mapping[str, Handler]) -> Mapping[str, Handler]:
        """The handlers, those of accesses with this survey before them."""
        accesses = set(HANDLERS) - {"tt.addptr"}
        return {name: self._watched(handler) if name in accesses else handler for name, handler in known.items()}

    def _watched(self, handler: Handler) -> Handler:
        def handle(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
            self._note(operation, frame)
            return handler(machine, operation, frame)

        return handle

    def _note(self, operation: Operation, frame: Frame) -> None:
        pointer, type = frame[operation.operands[0]], frame.type(operation.operands[0])
        assert type.pointee is not None
        places = torch.searchsorted(self.numbers, frame.programs.numbers)
        seen = self.seen.setdefault(id(operation), torch.full((len(self.numbers),), -1))
        kind = _kind(pointer, dtype_of(type.pointee).itemsize)
        seen[places] = seen[places].clamp(min=0) | kind
        if frame.outer is None and bool((kind & _WRAPPED).all()):
            raise _Enough(int(frame.programs.numbers[-1]))

    def changes(self, line: _Line, places: Sequence[int]) -> list[tuple[int, int]]:
        """Between which places of a line, next to each other here, an access changes; each pair once."""
        index = torch.searchsorted(self.numbers, torch.tensor([line.number(place) for place in places]))
        found: dict[tuple[int, int], None] = {}
        for seen in self.seen.values():
            kinds = seen[index].tolist()
            for (low, before), (high, after) in pairwise(zip(places, kinds, strict=True)):
                if before != after and before >= 0 and after >= 0:
                    found[low, high] = None
        return list(found)


def _kind(pointer: Value, size: int) -> torch.Tensor:
    """For each program (or one for all), whether its offsets overflow, and whether they are far above or below 0."""
    at = pointer.affine
    if at is not None:
        base = torch.as_tensor(at.base).reshape(-1)
        low, high = at.span
        lowest, highest = base + low, base + high
    elif isinstance(pointer.data, Rows):
        rows = pointer.data
        low, high = Affine(0, rows.strides, rows.shape, 0, 0).span
        bases = rows.base.reshape(rows.base.shape[0], -1)
        lowest, highest = bases.amin(1) + low, bases.amax(1) + high
    else:
        addresses = pointer.tensor(Type("ptr"))
        addresses = addresses.reshape(addresses.shape[0], -1)
        lowest, highest = addresses.amin(1), addresses.amax(1)
    above = (position_of(highest) >= _FAR * size) * _ABOVE
    below = (position_of(lowest) < -_FAR * size) * _BELOW
    return above | below | _wraps(pointer) * _WRAPPED


def _wraps(pointer: Value) -> torch.Tensor:
    if pointer.wrapped is None:
        return torch.zeros(1, dtype=torch.int64)
    sound = mask_tensor(pointer.wrapped.sound)
    return (~sound.reshape(sound.shape[0], -1)).any(1).to(torch.int64)
