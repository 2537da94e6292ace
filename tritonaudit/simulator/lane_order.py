"""Whether lanes of one program meet at one place although nothing makes them wait for each other.

The lanes of a block are spread over threads, of which each goes on by itself: what one has stored another may load too
early, and store over too early what another has yet to load. They wait at a barrier, and wherever values go from one
thread to another, as in a reduction. Lanes of blocks of one shape with the same number are taken for one thread's;
of blocks of different shapes nothing is said. A scalar is stored by the first thread alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

import torch

from tritonaudit.simulator.access import Accesses
from tritonaudit.simulator.faults import Fault, FaultKind, Site
from tritonaudit.simulator.ir import Location, Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.memory import AddressSpace, Buffer, buffer_of, position_of
from tritonaudit.simulator.notes import differ
from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.values import Value

_WAITING = frozenset(
    (
        *("gpu.barrier", "ttg.barrier", "tt.reduce", "tt.scan", "tt.dot", "tt.dot_scaled", "tt.gather", "tt.histogram"),
        *("tt.trans", "tt.reshape", "tt.join", "tt.split", "tt.cat", "tt.elementwise_inline_asm"),
        *("tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_poll", "tt.atomic_store"),
    )
)
"""What makes all threads of a program wait for each other, or may do so."""
_NOBODY, _SEVERAL, _SCALAR = -1, -2, -3
_OF_FIRST = 16
"""Lanes that the first thread may have: as many as it loads at once of the smallest elements."""
_LANES = 32  # bits of a lane's number, below which that of its block's shape stands
_MOST = 1 << 24
"""Cells of a memory, and lanes of an access, up to which they are distinguished."""


@dataclass(eq=False)
class _Touched:
    """Of each cell which program touched it last, in which lane, when, and where that stands."""

    cells: int
    program: torch.Tensor = field(init=False)
    lane: torch.Tensor = field(init=False)
    time: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.program = torch.full((self.cells,), _NOBODY, dtype=torch.int64)
        self.lane = torch.full((self.cells,), _NOBODY, dtype=torch.int64)
        self.time = torch.full((self.cells,), _NOBODY, dtype=torch.int64)

    def meet(self, at: _Access, waited: torch.Tensor) -> torch.Tensor:
        """Which of the lanes meet another one of their own program that they have not waited for since."""
        program, lane, time = self.program[at.cells], self.lane[at.cells], self.time[at.cells]
        is_like = (lane == _SEVERAL) | (lane >> _LANES == at.lanes >> _LANES)
        is_like |= (lane == _SCALAR) & (at.lanes & ((1 << _LANES) - 1) >= _OF_FIRST)
        return (program == at.programs) & (time > waited[at.programs]) & (lane != at.lanes) & is_like

    def put(self, at: _Access, now: int, waited: torch.Tensor | None = None) -> None:
        """Note it; with `waited` what several lanes of one program have touched since is several lanes'."""
        lanes = at.lanes
        if waited is not None:
            lanes = torch.where(self.meet(at, waited), _SEVERAL, lanes)
        self.program[at.cells], self.lane[at.cells], self.time[at.cells] = at.programs, lanes, now
        if waited is not None:
            others = (self.lane[at.cells] != lanes) & (self.program[at.cells] == at.programs)
            self.lane[at.cells[others]] = _SEVERAL


@dataclass(frozen=True, eq=False)
class _Access:
    """Lanes that access a memory: the cell of each, its program, its number with that of the shape, and its place."""

    cells: torch.Tensor
    programs: torch.Tensor
    lanes: torch.Tensor
    places: tuple[torch.Tensor, ...]
    shape: tuple[int, ...]


@dataclass(eq=False)
class LaneOrder:
    """What lanes of a launch's programs have done since they last waited, in the memories that are looked at.

    `has_met` tells whether any met others, also where what they stored was there already.
    """

    programs: int
    memories: frozenset[int]
    has_met: bool = False
    _now: int = 0
    _shapes: dict[tuple[int, ...], int] = field(default_factory=dict)
    _written: dict[int, _Touched] = field(default_factory=dict)
    _read: dict[int, _Touched] = field(default_factory=dict)
    _sites: dict[int, Location | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._waited = torch.full((self.programs,), _NOBODY, dtype=torch.int64)

    def wait(self, programs: Programs) -> None:
        """The lanes of each of these programs wait for one another."""
        self._waited[programs.numbers] = self._now

    def look(
        self,
        space: AddressSpace,
        pointer: Value,
        mask: Value | None,
        type: Type,
        site: Site,
        stored: torch.Tensor | None = None,
    ) -> list[tuple[Fault, torch.Tensor, torch.Tensor]]:
        """Note a load, or a store of the elements; the faults it shows, each with the lanes and elements concerned."""
        count, is_scalar = len(site.programs), prod(type.shape) == 1
        if (is_scalar and stored is None) or count * prod(type.shape) > _MOST:
            return []
        self._now += 1
        self._sites[self._now] = site.location
        addresses = pointer.tensor(Type("ptr")).expand(count, *type.shape)
        where = None if mask is None else mask.tensor(Type("i1")).expand(addresses.shape)
        found = []
        for number in buffer_of(addresses).unique().tolist():
            buffer = space[number]
            if buffer is not None and id(buffer.memory) in self.memories:
                access = self._access(buffer, addresses, where, number, site)
                if is_scalar:
                    self._of(self._written, buffer).put(replace(access, lanes=access.lanes * 0 + _SCALAR), self._now)
                else:
                    found += self._met(buffer, access, site, _changed(buffer, access, stored))
        return found

    def _access(
        self, buffer: Buffer, addresses: torch.Tensor, where: torch.Tensor | None, number: int, site: Site
    ) -> _Access:
        positions = position_of(addresses)
        is_meant = (buffer_of(addresses) == number) & (positions >= buffer.low) & (positions < buffer.high)
        if where is not None:
            is_meant &= where
        places = is_meant.nonzero(as_tuple=True)
        shape = tuple(addresses.shape)
        numbers = torch.arange(prod(shape[1:])).reshape(1, *shape[1:]).expand(shape)[places]
        kind = self._shapes.setdefault(shape[1:], len(self._shapes))
        cells = positions[places] // buffer.memory.cell
        return _Access(cells, site.programs.numbers[places[0]], numbers | kind << _LANES, places, shape)

    def _of(self, known: dict[int, _Touched], buffer: Buffer) -> _Touched:
        memory = buffer.memory
        if id(memory) not in known:
            known[id(memory)] = _Touched(memory.shadow.cells)
        return known[id(memory)]

    def _met(
        self, buffer: Buffer, access: _Access, site: Site, changed: torch.Tensor | None
    ) -> list[tuple[Fault, torch.Tensor, torch.Tensor]]:
        written, read = self._of(self._written, buffer), self._of(self._read, buffer)
        is_write = changed is not None
        found = []
        for touched, is_by_write in ((written, True), (read, False)):
            if is_write or is_by_write:
                bad = touched.meet(access, self._waited)
                self.has_met |= bool(bad.any())
                bad = bad if changed is None else bad & changed
                if bool(bad.any()):
                    found.append(self._fault(buffer, access, bad, touched, site, are_writes=is_write and is_by_write))
        if is_write:
            written.put(access, self._now)
        else:
            read.put(access, self._now, self._waited)
        return found

    def _fault(
        self, buffer: Buffer, access: _Access, bad: torch.Tensor, touched: _Touched, site: Site, *, are_writes: bool
    ) -> tuple[Fault, torch.Tensor, torch.Tensor]:
        lanes = torch.zeros(access.shape, dtype=torch.bool)
        elements = torch.zeros(access.shape, dtype=torch.int64)
        lanes[access.places] = bad
        elements[access.places] = buffer.element(access.cells * buffer.memory.cell)
        other = self._sites.get(int(touched.time[access.cells[bad][0]]))
        kind = FaultKind.LANES_WRITE_WRITE if are_writes else FaultKind.LANES_READ_WRITE
        fault = Fault(kind, site.location, buffer.name, beside=() if other is None else (other,))
        return fault, lanes, elements


@dataclass(frozen=True, eq=False)
class OrderedAccesses(Accesses):
    """Accesses that are looked at lane by lane, too, before they are made."""

    order: LaneOrder = field(kw_only=True)

    def load(self, pointer: Value, mask: Value | None, other: Value | None, type: Type, site: Site) -> Value:
        self._look(pointer, mask, type, site)
        return super().load(pointer, mask, other, type, site)

    def store(self, pointer: Value, value: torch.Tensor, mask: Value | None, type: Type, site: Site) -> None:
        self._look(pointer, mask, type, site, value)
        super().store(pointer, value, mask, type, site)

    def _look(
        self, pointer: Value, mask: Value | None, type: Type, site: Site, stored: torch.Tensor | None = None
    ) -> None:
        for fault, lanes, elements in self.order.look(self.addressing.space, pointer, mask, type, site, stored):
            self.addressing.faults.add_lanes(fault, lanes, site, elements)


def _changed(buffer: Buffer, access: _Access, stored: torch.Tensor | None) -> torch.Tensor | None:
    """In which lanes a store puts anything but what is there: one that does not harms nobody. None for a load."""
    if stored is None:
        return None
    there = buffer.memory.typed(stored.dtype)[access.cells * buffer.memory.cell // stored.itemsize]
    new = stored.expand(access.shape)[access.places]
    return differ(there, new)


def order_of(
    programs: int, space: AddressSpace, accessed: Mapping[int, int], written: frozenset[int]
) -> LaneOrder | None:
    """That of a launch whose text accesses its arguments, by their places, so often; None where no lanes can meet."""
    memories: set[int] = set()
    often: dict[int, int] = {}
    for buffer in space:
        key = id(buffer.memory)
        often[key] = often.get(key, 0) + accessed.get(buffer.number, 0)
        if buffer.number in written and buffer.memory.shadow.is_shared and buffer.memory.shadow.cells <= _MOST:
            memories.add(key)
    found = frozenset(key for key in memories if often[key] > 1)
    return LaneOrder(programs, found) if found else None


def waiting(order: LaneOrder, handlers: Mapping[str, Handler]) -> Mapping[str, Handler]:
    """The handlers, of which those that make lanes wait say so."""
    return {name: partial(_wait, order, one) if name in _WAITING else one for name, one in handlers.items()}


def _wait(
    order: LaneOrder, handler: Handler, machine: Machine, operation: Operation, frame: Frame
) -> tuple[Value, ...]:
    order.wait(frame.programs)
    return handler(machine, operation, frame)
