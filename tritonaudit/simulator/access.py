"""Loads and stores: from addresses and masks to elements of memory, with what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.boxes import Box
from tritonaudit.simulator.faults import Fault, Faults, Kind
from tritonaudit.simulator.ir import Location, Type
from tritonaudit.simulator.memory import (
    AddressSpace,
    Buffer,
    address,
    buffer_of,
    buffers_of,
    position_of,
    positions_of,
)
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.selection import Indexed, Selection, Strided
from tritonaudit.simulator.shadow import Conflict
from tritonaudit.simulator.sync import Clocks
from tritonaudit.simulator.values import Doubt, Mask, Value, is_within, joined, mask_tensor, merged


@dataclass(frozen=True, eq=False)
class Part:
    """Lanes of an access that go to one buffer: `selection` counts elements, `kept` are those lanes (None: all)."""

    buffer: Buffer
    selection: Selection
    kept: torch.Tensor | None


@dataclass(frozen=True, eq=False)
class Accesses:
    """Executes the accesses of a launch to its memory."""

    space: AddressSpace
    faults: Faults
    clocks: Clocks
    is_checked: bool = True

    # -- loads -----------------------------------------------------------------------------------------------------

    def load(
        self,
        pointer: Value,
        mask: Value | None,
        other: torch.Tensor | None,
        type: Type,
        programs: Programs,
        location: Location | None,
    ) -> Value:
        """The loaded elements; `other` where the mask does not hold, zeros that are undefined without it."""
        where = None if mask is None else _mask(mask)
        if (halves := _filled_and_rest(where, len(programs))) is None:
            return self._load(pointer, where, other, type, programs, location)
        parts = [
            (
                places,
                self._load(
                    pointer.take(places),
                    _taken(where, places),
                    _fill_of(other, places),
                    type,
                    programs.take(places),
                    location,
                ),
            )
            for places in halves
        ]
        return merged(parts, type, len(programs))

    def _load(
        self,
        pointer: Value,
        where: Mask | None,
        other: torch.Tensor | None,
        type: Type,
        programs: Programs,
        location: Location | None,
    ) -> Value:
        fast = self._strided(pointer, where, type, programs) or self._strided_once(pointer, where, type)
        if fast is None:
            return self._load_indexed(pointer, where, other, type, programs, location)
        buffer, cells, places = fast
        return self._load_strided(buffer, cells, places, where, other, type, programs, location)

    def _load_strided(
        self,
        buffer: Buffer,
        cells: Strided,
        places: torch.Tensor | None,
        where: Box | None,
        other: torch.Tensor | None,
        type: Type,
        programs: Programs,
        location: Location | None,
    ) -> Value:
        memory = buffer.memory.typed(dtype_of(type))
        found = cells.of(memory)
        if places is not None:
            found = found[places]
        doubt = self._note_read(buffer, cells, memory.itemsize, programs, location)
        if where is None or where.is_full:
            return Value(found.clone() if buffer.memory.shadow.is_shared else found, doubt)
        whole = _filled(other, (found.shape[0], *type.shape), found.dtype)
        inside = (slice(None), *where.slices())
        whole[inside] = found
        if doubt is not None:
            sound = torch.ones(whole.shape, dtype=torch.bool)
            sound[inside] = mask_tensor(doubt.sound)
            doubt = Doubt(sound, doubt.origin)
        return Value(whole, joined([doubt, None if other is not None else Doubt(where, location, is_masked=True)]))

    def _load_indexed(
        self,
        pointer: Value,
        where: Mask | None,
        other: torch.Tensor | None,
        type: Type,
        programs: Programs,
        location: Location | None,
    ) -> Value:
        parts, good, shape = self._indexed(pointer, where, type, programs, location, "load")
        found = None
        doubt: Doubt | None = None
        for part in parts:
            memory = part.buffer.memory.typed(dtype_of(type))
            elements = part.selection.of(memory)
            found = elements if found is None or part.kept is None else torch.where(part.kept, elements, found)
            doubt = joined([doubt, self._note_read(part.buffer, part.selection, memory.itemsize, programs, location)])
        if found is None:
            found = torch.zeros(shape, dtype=dtype_of(type))
        if good is not None:
            fill = torch.zeros((), dtype=found.dtype) if other is None else other.to(found.dtype)
            found = torch.where(good, found, fill)
            asked = None if where is None else mask_tensor(where)
            sound = good if asked is None else good | ~asked
            if not bool(sound.all()):
                doubt = joined([doubt, Doubt(sound, location)])
            if other is None and asked is not None and not bool(asked.all()):
                doubt = joined([doubt, Doubt(asked, location, is_masked=True)])
        return Value(found, doubt)

    # -- stores ----------------------------------------------------------------------------------------------------

    def store(
        self,
        pointer: Value,
        value: torch.Tensor,
        mask: Value | None,
        type: Type,
        programs: Programs,
        location: Location | None,
    ) -> None:
        """Write the elements where the mask holds; `type` is that of the value."""
        where = None if mask is None else _mask(mask)
        if (halves := _filled_and_rest(where, len(programs))) is None:
            self._store(pointer, value, where, type, programs, location)
            return
        for places in halves:
            part = value if value.shape[0] == 1 else value[places]
            self._store(pointer.take(places), part, _taken(where, places), type, programs.take(places), location)

    def _store(
        self,
        pointer: Value,
        value: torch.Tensor,
        where: Mask | None,
        type: Type,
        programs: Programs,
        location: Location | None,
    ) -> None:
        fast = self._strided(pointer, where, type, programs)
        if fast is not None and (fast[1].sizes[0] == len(programs)) and fast[1].is_injective:
            buffer, cells, _ = fast
            part = value if where is None else _boxed(value, where, type)
            self._write(buffer, cells, part, type, programs, location)
            return
        parts, _, shape = self._indexed(pointer, where, type, programs, location, "store")
        values = value.expand(len(programs), *type.shape)
        for one in parts:
            selection = _whole(one.selection, (len(programs), *shape[1:]))
            self._write(one.buffer, selection, values, type, programs, location)
            memory = one.buffer.memory.typed(dtype_of(type))
            self._check_collisions(one.buffer, selection, memory, values, programs, location)

    def _write(
        self,
        buffer: Buffer,
        selection: Selection,
        values: torch.Tensor,
        type: Type,
        programs: Programs,
        location: Location | None,
    ) -> None:
        """Write to memory; two programs that write the same there do no harm."""
        memory = buffer.memory.typed(dtype_of(type))
        conflicts = self._note_write(buffer, selection, values.itemsize, programs)
        differs = _differ(selection.of(memory), values) if conflicts else None
        selection.put(memory, values)
        if differs is None:
            return
        differs = differs | _differ(selection.of(memory), values)
        harmful = [replace(c, bad=c.bad & differs) if c.is_write else c for c in conflicts]
        harmless = [replace(c, bad=c.bad & ~differs) for c in conflicts if c.is_write]
        cells = selection.moved(0, values.itemsize // buffer.memory.cell)
        self._report(buffer, cells, harmful, programs, location, is_write=True)
        self._report(buffer, cells, harmless, programs, location, is_write=True, is_same=True)

    def _check_collisions(
        self,
        buffer: Buffer,
        selection: Selection,
        memory: torch.Tensor,
        values: torch.Tensor,
        programs: Programs,
        location: Location | None,
    ) -> None:
        """Lanes of one program whose elements another lane of it has overwritten with other ones."""
        if not self.is_checked or selection.is_injective or values[0].numel() < 2:
            return
        after = selection.of(memory)
        bad = _differ(after, values)
        if isinstance(selection, Indexed) and selection.kept is not None:
            bad = bad & selection.kept
        if not bool(bad.any()) or not isinstance(selection, Indexed):
            return
        bad = bad & _repeated(selection)
        self.faults.add_lanes(Fault(Kind.LANES_COLLIDE, location, buffer.name), bad, programs, selection.index)

    # -- atomics ---------------------------------------------------------------------------------------------------

    def indexed(
        self, pointer: Value, mask: Value | None, type: Type, programs: Programs, location: Location | None
    ) -> tuple[Sequence[Part], tuple[int, ...]]:
        """The elements of an atomic, and the shape of all its lanes; it is noted as one."""
        where = None if mask is None else _mask(mask)
        parts, _, shape = self._indexed(pointer, where, type, programs, location, "atomic")
        shape = (len(programs), *shape[1:])
        found = []
        for part in parts:
            selection = _whole(part.selection, shape)
            size = dtype_of(type).itemsize
            conflicts = self._note_write(part.buffer, selection, size, programs, is_atomic=True)
            cells = selection.moved(0, size // part.buffer.memory.cell)
            self._report(part.buffer, cells, conflicts, programs, location, is_write=True)
            found.append(Part(part.buffer, selection, part.kept))
        self.clocks.tick(programs)
        return found, shape

    # -- from addresses to elements --------------------------------------------------------------------------------

    def _strided(
        self, pointer: Value, where: Mask | None, type: Type, programs: Programs
    ) -> tuple[Buffer, Strided, None] | None:
        """The access as a view of one buffer, where it is one that lies within it."""
        at = pointer.affine
        if at is None or pointer.undefined is not None or pointer.wrapped is not None:
            return None
        steps = _steps(at)
        found = None if steps is None else self._view(at, steps, where, type)
        return None if found is None else (*found, None)

    def _strided_once(
        self, pointer: Value, where: Mask | None, type: Type
    ) -> tuple[Buffer, Strided, torch.Tensor] | None:
        """The same where programs share what they read: a view for each of it, and which of these is each program's."""
        at = pointer.affine
        if at is None or pointer.undefined is not None or pointer.wrapped is not None or isinstance(at.base, int):
            return None
        bases, places = at.base.unique(return_inverse=True)
        shared = Affine(bases, at.strides, at.shape, at.low, at.high)
        steps = _steps(shared)
        if steps is None or 2 * len(bases) > len(at.base):
            return None
        found = self._view(shared, steps, where, type)
        if found is None or found[0].memory.shadow.is_shared or found[0].memory.shadow.undefined is not None:
            return None
        return (*found, places)

    def _view(self, at: Affine, steps: int, where: Mask | None, type: Type) -> tuple[Buffer, Strided] | None:
        box = where if isinstance(where, Box) else None
        if where is not None and (box is None or not box.is_uniform):
            return None
        buffer = self._buffer(at)
        size = dtype_of(type).itemsize
        if buffer is None or not _fits(at, steps, size):
            return None
        lanes = box.slices() if box is not None else (slice(None),) * len(type.shape)
        first, programs = (at.base, 1) if isinstance(at.base, int) else (int(at.base[0]), len(at.base))
        sizes, offset = [programs], position_of(first) // size
        for one, n, stride in zip(lanes, type.shape, at.strides, strict=True):
            start, stop, _ = one.indices(n)
            offset += start * stride // size
            sizes.append(max(0, stop - start))
        cells = Strided(offset, tuple(sizes), (steps // size, *(stride // size for stride in at.strides)))
        begin, end = cells.bounds
        inside = buffer.low <= begin * size and end * size <= buffer.high and buffer.is_dense
        return (buffer, cells) if inside and min(sizes) > 0 else None

    def _buffer(self, at: Affine) -> Buffer | None:
        """The one buffer that all bases of addresses lie in."""
        if buffer_of(at.low) != buffer_of(at.high):
            at = at.exact()
        return self.space[buffer_of(at.low)] if buffer_of(at.low) == buffer_of(at.high) else None

    def _inside(
        self, pointer: Value, where: Mask | None, type: Type, programs: Programs
    ) -> tuple[list[Part], torch.Tensor | None, tuple[int, ...]] | None:
        """The access lane by lane, where its corners show that it lies within one buffer."""
        at = pointer.affine
        if at is None or pointer.undefined is not None or pointer.wrapped is not None:
            return None
        if where is not None and not isinstance(where, Box):
            return None
        buffer = self._buffer(at)
        size = dtype_of(type).itemsize
        if buffer is None or not buffer.is_dense or any(stride % size for stride in at.strides):
            return None
        base = torch.as_tensor(at.base).reshape(-1)
        low = high = base
        empty = torch.zeros(1, dtype=torch.bool)
        bounds = [(0, n) for n in type.shape] if where is None else where.bounds()
        for (first, behind), stride in zip(bounds, at.strides, strict=True):
            edges = [torch.as_tensor(edge) * stride for edge in (first, behind - 1)]
            low, high = low + torch.minimum(*edges), high + torch.maximum(*edges)
            empty = empty | torch.as_tensor(behind <= first)
        first_address = address(buffer.number, 0)
        good = (low - first_address >= buffer.low) & (high - first_address + size <= buffer.high) | empty
        if not bool((good & (base % size == first_address % size)).all()):
            return None
        scaled = Affine(
            torch.div(base - first_address, size, rounding_mode="floor"),
            tuple(stride // size for stride in at.strides),
            at.shape,
            0,
            0,
        )
        index = scaled.tensor(torch.int64)
        mask = None if where is None or where.is_full else where.tensor()
        shape = torch.broadcast_shapes(index.shape, mask.shape if mask is not None else (), (1, *type.shape))
        mask = None if mask is None else mask.expand(shape)
        return [Part(buffer, Indexed(index.expand(shape), mask), mask)], mask, tuple(shape)

    def _indexed(
        self,
        pointer: Value,
        where: Mask | None,
        type: Type,
        programs: Programs,
        location: Location | None,
        verb: str,
    ) -> tuple[list[Part], torch.Tensor | None, tuple[int, ...]]:
        """The access lane by lane: its parts, the lanes that are good (None: all), and the shape of all lanes."""
        if (found := self._inside(pointer, where, type, programs)) is not None:
            return found
        addresses = pointer.tensor(Type("ptr"))
        mask = None if where is None else mask_tensor(where)
        shape = torch.broadcast_shapes(addresses.shape, mask.shape if mask is not None else (), (1, *type.shape))
        addresses = addresses.expand(shape)
        mask = None if mask is None else mask.expand(shape)
        self._check_address(pointer, mask, programs, location)
        parts: list[Part] = []
        good = mask
        for number in self._numbers(addresses, mask):
            here = buffers_of(addresses) == number
            lanes = None if mask is None and bool(here.all()) else (here if mask is None else here & mask)
            buffer = self.space[number]
            if buffer is None:
                assert lanes is not None or mask is None
                bad = torch.ones(shape, dtype=torch.bool) if lanes is None else lanes
                self.faults.add_lanes(Fault(Kind.NO_TENSOR, location, detail=verb), bad, programs)
                good = ~bad if good is None else good & ~bad
                continue
            part, bad_lanes = self._part(buffer, addresses, lanes, type, programs, location, verb)
            parts.append(part)
            if bad_lanes is not None:
                good = ~bad_lanes if good is None else good & ~bad_lanes
        return parts, good, tuple(shape)

    def _numbers(self, addresses: torch.Tensor, mask: torch.Tensor | None) -> list[int]:
        if not addresses.numel() or (mask is not None and not bool(mask.any())):
            return []
        if mask is not None:
            addresses = torch.where(
                mask, addresses, addresses.reshape(-1)[int(mask.reshape(-1).to(torch.uint8).argmax())]
            )
        low, high = (int(edge) for edge in torch.aminmax(addresses))
        if buffer_of(low) == buffer_of(high):
            return [buffer_of(low)]
        return [int(number) for number in buffers_of(addresses).unique()]

    def _part(
        self,
        buffer: Buffer,
        addresses: torch.Tensor,
        lanes: torch.Tensor | None,
        type: Type,
        programs: Programs,
        location: Location | None,
        verb: str,
    ) -> tuple[Part, torch.Tensor | None]:
        """The lanes that access one buffer; and of these the ones that must not."""
        size = dtype_of(type).itemsize
        positions = positions_of(addresses)
        bad = (positions < buffer.low) | (positions + size > buffer.high)
        kind = {"load": Kind.OUT_OF_BOUNDS_LOAD, "store": Kind.OUT_OF_BOUNDS_STORE}.get(verb, Kind.OUT_OF_BOUNDS_ATOMIC)
        bad = self._rejected(kind, buffer, bad, lanes, positions, programs, location)
        if not buffer.is_dense:
            place = torch.where(bad, 0, torch.div(positions - buffer.low, buffer.itemsize, rounding_mode="floor"))
            hole = buffer.holes[place] & ~bad
            bad |= self._rejected(Kind.BETWEEN_ELEMENTS, buffer, hole, lanes, positions, programs, location)
        if size > 1:
            odd = (positions % size != 0) & ~bad
            bad |= self._rejected(Kind.MISALIGNED, buffer, odd, lanes, positions, programs, location)
        index = torch.div(positions, size, rounding_mode="floor")
        if not bool(bad.any()):
            return Part(buffer, Indexed(index, lanes), lanes), None
        kept = ~bad if lanes is None else lanes & ~bad
        return Part(buffer, Indexed(index, kept), kept), bad

    def _rejected(
        self,
        kind: Kind,
        buffer: Buffer,
        bad: torch.Tensor,
        lanes: torch.Tensor | None,
        positions: torch.Tensor,
        programs: Programs,
        location: Location | None,
    ) -> torch.Tensor:
        bad = bad if lanes is None else bad & lanes
        if self.is_checked and bool(bad.any()):
            self.faults.add_lanes(Fault(kind, location, buffer.name), bad, programs, buffer.element(positions))
        return bad

    def _check_address(
        self, pointer: Value, mask: torch.Tensor | None, programs: Programs, location: Location | None
    ) -> None:
        for kind, doubt in (
            (Kind.UNDEFINED_ADDRESS, pointer.undefined),
            (Kind.OVERFLOW_ADDRESS, pointer.wrapped),
        ):
            if doubt is not None and self.is_checked:
                bad = ~mask_tensor(doubt.sound)
                bad = bad if mask is None else bad & mask
                self.faults.add_lanes(Fault(kind, location, origin=doubt.origin), bad, programs)

    # -- shadow ----------------------------------------------------------------------------------------------------

    def _note_read(
        self, buffer: Buffer, selection: Selection, size: int, programs: Programs, location: Location | None
    ) -> Doubt | None:
        shadow = buffer.memory.shadow
        if not self.is_checked or not (shadow.is_shared or shadow.undefined is not None):
            return None
        cells = selection.moved(0, size // buffer.memory.cell)
        if shadow.is_shared:
            self._report(buffer, cells, shadow.read(cells, programs, self.clocks), programs, location, is_write=False)
        if shadow.undefined is None:
            return None
        unknown = cells.of(shadow.undefined)
        if isinstance(cells, Indexed) and cells.kept is not None:
            unknown = unknown & cells.kept
        return Doubt(~unknown, location) if bool(unknown.any()) else None

    def _note_write(
        self, buffer: Buffer, selection: Selection, size: int, programs: Programs, *, is_atomic: bool = False
    ) -> list[Conflict]:
        if not self.is_checked:
            return []
        cells = selection.moved(0, size // buffer.memory.cell)
        return buffer.memory.shadow.write(cells, programs, self.clocks, is_atomic=is_atomic)

    def _report(
        self,
        buffer: Buffer,
        cells: Selection,
        conflicts: Sequence[Conflict],
        programs: Programs,
        location: Location | None,
        *,
        is_write: bool,
        is_same: bool = False,
    ) -> None:
        for conflict in conflicts:
            kind = Kind.RACE_WRITE_WRITE if conflict.is_write and is_write else Kind.RACE_READ_WRITE
            kind = Kind.SAME_WRITES if is_same else kind
            positions = _numbered(cells) * buffer.memory.cell
            self.faults.add_lanes(
                Fault(kind, location, buffer.name),
                conflict.bad,
                programs,
                buffer.element(positions),
                conflict.others,
            )


def check_stored(
    faults: Faults, value: Value, mask: Value | None, programs: Programs, location: Location | None
) -> None:
    """Report lanes that are written to memory although they mean nothing."""
    doubt = value.undefined
    if doubt is None:
        return
    where = None if mask is None else _mask(mask)
    if where is not None and is_within(where, doubt.sound):
        return
    bad = ~mask_tensor(doubt.sound)
    if where is not None:
        bad = bad & mask_tensor(where)
    kind = Kind.MASKED_STORED if doubt.is_masked else Kind.UNDEFINED_STORED
    faults.add_lanes(Fault(kind, location, origin=doubt.origin), bad, programs)


def _mask(mask: Value) -> Mask:
    if isinstance(mask.data, Affine):
        return mask.data.tensor(torch.bool)
    return mask.data


def _filled_and_rest(where: Mask | None, programs: int) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The programs that a mask holds for in all lanes, and the others, where there are both."""
    if not isinstance(where, Box) or where.is_uniform or programs < 2:
        return None
    full = where.fills(programs)
    if bool(full.all()) or not bool(full.any()):
        return None
    return full.nonzero().flatten(), (~full).nonzero().flatten()


def _taken(where: Mask | None, places: torch.Tensor) -> Mask | None:
    assert isinstance(where, Box)
    return where.take(places).simplified()


def _fill_of(other: torch.Tensor | None, places: torch.Tensor) -> torch.Tensor | None:
    return other if other is None or other.shape[0] == 1 else other[places]


def _fits(at: Affine, steps: int, size: int) -> bool:
    """Whether all addresses are those of whole elements."""
    first = at.base if isinstance(at.base, int) else int(at.base[0])
    return not (first % size or steps % size or any(stride % size for stride in at.strides))


def _steps(at: Affine) -> int | None:
    """How far apart the bases of neighbouring programs are, where that is one number."""
    if isinstance(at.base, int) or len(at.base) < 2:
        return 0
    steps = at.base[1:] - at.base[:-1]
    first = int(steps[0])
    return first if bool((steps == first).all()) else None


def _filled(other: torch.Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if other is None:
        return torch.zeros(shape, dtype=dtype)
    if other.numel() == 1:
        return torch.full(shape, other.item(), dtype=dtype)
    return other.to(dtype).expand(torch.broadcast_shapes(shape, other.shape)).clone()


def _boxed(value: torch.Tensor, box: Mask, type: Type) -> torch.Tensor:
    assert isinstance(box, Box)
    if box.is_full:
        return value
    return value.expand(value.shape[0], *type.shape)[(slice(None), *box.slices())]


def _whole(selection: Selection, shape: tuple[int, ...]) -> Indexed:
    """With every program's lanes, also where they are the same for all."""
    assert isinstance(selection, Indexed)
    kept = None if selection.kept is None else selection.kept.expand(shape)
    return Indexed(selection.index.expand(shape), kept)


def _numbered(cells: Selection) -> torch.Tensor:
    """The number of each cell."""
    if isinstance(cells, Indexed):
        return cells.index
    rank = len(cells.sizes)
    found = torch.full([1] * rank, cells.offset)
    for axis, (size, stride) in enumerate(zip(cells.sizes, cells.strides, strict=True)):
        found = found + (torch.arange(size) * stride).reshape([size if i == axis else 1 for i in range(rank)])
    return found


def _differ(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    """Where two values are not the same; NaN is the same as NaN."""
    return (one != two) & ((one == one) | (two == two))


def _repeated(selection: Indexed) -> torch.Tensor:
    """Lanes whose element another lane of the same program means, too."""
    flat = selection.index.reshape(selection.index.shape[0], -1)
    kept = torch.ones_like(flat, dtype=torch.bool) if selection.kept is None else selection.kept.reshape(flat.shape)
    found = torch.zeros_like(kept)
    for row in range(flat.shape[0]):
        _, inverse, counts = flat[row][kept[row]].unique(return_inverse=True, return_counts=True)
        found[row, kept[row]] = counts[inverse] > 1
    return found.reshape(selection.index.shape)
