"""From addresses and masks to elements of memory, and which lanes must not access it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import torch

from tritonaudit.simulator.affine import Affine, Progression
from tritonaudit.simulator.boxes import Box
from tritonaudit.simulator.faults import Fault, FaultKind, Faults, Site
from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.memory import (
    AddressSpace,
    Buffer,
    address,
    buffer_of,
    position_of,
)
from tritonaudit.simulator.numerics.elements import chosen, dtype_of
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.selection import Indexed, Strided, Windows
from tritonaudit.simulator.values import Doubt, Mask, Value, is_known_within, mask_tensor

_NEAR = 1 << 10
"""Lanes at the front that are looked at first."""


# Not frozen where every access makes one, which would take three times as long. Nothing changes them once made.
@dataclass(eq=False, slots=True)
class View:
    """An access as a view of the buffer of that number.

    `places` tells which of its first axis is each program's, where they share.
    """

    buffer: int
    selection: Strided
    places: torch.Tensor | None = None


@dataclass(frozen=True, eq=False)
class Gathered:
    """An access as views of one form from places of their own; `kept` tells which of these are meant (None: all).

    `lanes` are those of the block, along each axis, that the views hold.
    """

    buffer: int
    selection: Windows
    kept: torch.Tensor | None
    lanes: tuple[slice, ...]


@dataclass(eq=False, slots=True)
class Part:
    """Lanes of an access that go to the buffer of that number: `selection` counts elements, and keeps those lanes."""

    buffer: int
    selection: Indexed


@dataclass(eq=False, slots=True)
class Lanes:
    """An access lane by lane: its parts, the lanes that are good (None: all), and the shape of all lanes.

    `is_fine`: all lanes under the mask are good.
    """

    parts: tuple[Part, ...]
    good: torch.Tensor | None
    shape: tuple[int, ...]
    is_fine: bool = True


@dataclass(frozen=True, eq=False)
class Addressing:
    """Finds the elements that addresses mean, and reports addresses that mean none."""

    space: AddressSpace
    faults: Faults
    is_checked: bool

    # -- views -----------------------------------------------------------------------------------------------------

    def view(self, pointer: Value, where: Mask | None, type: Type) -> View | None:
        """The access as a view of one buffer, where it is one that lies within it."""
        at = _certain(pointer, where)
        return None if at is None else self._view(at, where, type)

    def shared_view(self, pointer: Value, where: Mask | None, type: Type) -> View | None:
        """The same where programs share what they read."""
        at = _certain(pointer, where)
        if at is None or not isinstance(at.number, torch.Tensor):
            return None
        bases, places = at.number.unique(return_inverse=True)
        if 2 * len(bases) > at.programs:
            return None
        found = self._view(Affine(bases, at.strides, at.shape, at.low, at.high), where, type)
        if found is None or self.space.buffer(found.buffer).memory.shadow.is_kept:
            return None
        return View(found.buffer, found.selection, places)

    def _view(self, at: Affine, where: Mask | None, type: Type) -> View | None:
        if where is not None and not (isinstance(where, Box) and where.is_uniform):
            return None
        buffer, number, size = self._buffer(at), at.progression, dtype_of(type).itemsize
        if buffer is None or number is None:
            return None
        first, steps, programs = _axes(number)
        if first % size or any(step % size for step in (*steps, *at.strides)):
            return None
        offset, sizes = position_of(first) // size, [*programs, *type.shape]
        strides = [step // size for step in (*steps, *at.strides)]
        if where is not None:
            for axis, (start, stop) in enumerate(where.bounds(), len(programs)):
                assert isinstance(start, int)
                assert isinstance(stop, int)
                sizes[axis] = stop - start
                offset += start * strides[axis]
        if min(sizes) < 1:
            return None
        cells = Strided(offset, tuple(sizes), tuple(strides), len(programs))
        begin, end = cells.bounds
        is_inside = buffer.low <= begin * size and end * size <= buffer.high and buffer.has_all(cells, size)
        return View(buffer.number, cells) if is_inside else None

    def _buffer(self, at: Affine) -> Buffer | None:
        """The one buffer that all bases of addresses lie in."""
        if buffer_of(at.low) != buffer_of(at.high):
            at = at.exact()
        return self.space[buffer_of(at.low)] if buffer_of(at.low) == buffer_of(at.high) else None

    def gathered(self, pointer: Value, where: Mask | None, type: Type, site: Site) -> Gathered | None:
        """The access as one view for each of many places in a buffer, where all of it lies within it."""
        at = pointer.data
        if not isinstance(at, (Affine, Rows)) or not (where is None or isinstance(where, Box)):
            return None
        rows, size = Rows.of(at, type.shape), dtype_of(type).itemsize
        axes = [axis for axis, stride in enumerate(rows.strides) if stride and type.shape[axis] > 1]
        parted = None if where is None else _parted(where, axes)
        if where is not None and parted is None:
            return None
        kept, lanes = (None, (slice(None),) * len(type.shape)) if parted is None else parted
        base = rows.base if kept is None else _replaced(rows.base, kept)
        first, last = (int(edge) for edge in torch.aminmax(base))
        buffer = self.space[buffer_of(first)] if buffer_of(first) == buffer_of(last) else None
        if buffer is None or not buffer.is_dense or buffer.memory.shadow.is_kept:
            return None
        sizes, offset, reach = [1] * len(lanes), 0, 0
        for axis in axes:
            start, stop, _ = lanes[axis].indices(type.shape[axis])
            sizes[axis] = max(0, stop - start)
            offset += start * rows.strides[axis]
            reach += (sizes[axis] - 1) * rows.strides[axis]
        inside = buffer.low <= position_of(first) + offset and position_of(last) + offset + reach + size <= buffer.high
        is_even = not (any(stride < 0 or stride % size for stride in rows.strides) or bool((base % size).any()))
        if not inside or not is_even or min(sizes, default=1) < 1:
            return None
        starts = torch.div(position_of(base) + offset, size, rounding_mode="floor")
        windows = Windows(starts, tuple(sizes), tuple(stride // size for stride in rows.strides))
        self._check_rows(pointer, buffer, where, type, site)
        return Gathered(buffer.number, windows, kept, lanes)

    def _check_rows(self, pointer: Value, buffer: Buffer, where: Box | None, type: Type, site: Site) -> None:
        """As `_check_address`, where all of the addresses are those of one buffer."""
        for fault, doubt in self._doubted(pointer, site):
            bad = ~mask_tensor(doubt.sound)
            bad = bad if where is None else bad & where.tensor()
            if not bool(bad.any()):
                continue
            shape = _shape(bad, None, type)
            count = int(bad.sum()) * (prod(shape) // bad.numel())
            if not self.faults.is_known(replace(fault, tensor=buffer.name), count):
                self.report_lanes(fault, bad.expand(shape), pointer, site)

    # -- lanes -----------------------------------------------------------------------------------------------------

    def lanes(self, pointer: Value, where: Mask | None, type: Type, site: Site, kind: FaultKind) -> Lanes:
        """The access lane by lane; `kind` is the fault of a lane that is out of bounds."""
        found = self._inside(pointer, where, type) or self._inside_by_lanes(pointer, where, type)
        return found or self._anywhere(pointer, where, type, site, kind)

    def _inside(self, pointer: Value, where: Mask | None, type: Type) -> Lanes | None:
        """Where the corners show that all of it lies within one buffer."""
        at = _certain(pointer, where)
        if at is None or not (where is None or isinstance(where, Box)):
            return None
        buffer, size = self._buffer(at), dtype_of(type).itemsize
        if buffer is None or not buffer.is_dense or any(stride % size for stride in at.strides):
            return None
        low, high = at.bounds
        is_inside = buffer.low <= position_of(low) and position_of(high) + size <= buffer.high
        positions = torch.as_tensor(at.base).reshape(-1) - address(buffer.number, 0)
        if not (is_inside or _are_corners_in(buffer, at, positions, where, size)) or bool((positions % size).any()):
            return None
        if buffer.is_absent:
            return Lanes((), None, (len(positions), *type.shape))
        first = torch.div(positions, size, rounding_mode="floor")
        index = Affine(first, tuple(s // size for s in at.strides), at.shape, 0, 0).tensor(torch.int64)
        mask = None if where is None else where.tensor()
        shape = _shape(index, mask, type)
        mask = None if mask is None else mask.expand(shape)
        return Lanes((Part(buffer.number, Indexed(index.expand(shape), mask)),), mask, shape)

    def _inside_by_lanes(self, pointer: Value, where: Mask | None, type: Type) -> Lanes | None:
        """Where a look at all addresses that are meant shows it."""
        if pointer.undefined is not None or pointer.wrapped is not None:
            return None
        addresses, size = pointer.tensor(Type("ptr")), dtype_of(type).itemsize
        mask = None if where is None else mask_tensor(where)
        shape = _shape(addresses, mask, type)
        found = self._elements(addresses, size)
        if found is None and mask is not None:
            found = self._elements(_replaced(addresses, mask), size)
        if found is None:
            return None
        buffer, index = found
        if buffer.is_absent:
            return Lanes((), None, shape)
        mask = None if mask is None else mask.expand(shape)
        return Lanes((Part(buffer.number, Indexed(index.expand(shape), mask, is_within=True)),), mask, shape)

    def _elements(self, addresses: torch.Tensor, size: int) -> tuple[Buffer, torch.Tensor] | None:
        """The one buffer that all of the addresses lie in, and its elements of that size which they mean."""
        low, high = (int(edge) for edge in torch.aminmax(addresses))
        buffer = self.space[buffer_of(low)] if buffer_of(low) == buffer_of(high) else None
        if buffer is None or position_of(low) < buffer.low or position_of(high) + size > buffer.high:
            return None
        positions = addresses - address(buffer.number, 0)
        is_whole = buffer.is_dense or not bool(buffer.is_between(positions).any())
        if not is_whole or (size > 1 and int((positions & (size - 1)).max())):
            return None
        return buffer, positions >> (size.bit_length() - 1)

    def _anywhere(self, pointer: Value, where: Mask | None, type: Type, site: Site, kind: FaultKind) -> Lanes:
        addresses = pointer.tensor(Type("ptr"))
        mask = None if where is None else mask_tensor(where)
        shape = _shape(addresses, mask, type)
        addresses = addresses.expand(shape)
        mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
        self._check_address(pointer, mask, site)
        parts: list[Part] = []
        good = mask
        for number in _buffers(addresses, mask):
            lanes = mask & (buffer_of(addresses) == number)
            buffer = self.space[number]
            if buffer is None:
                self.faults.add_lanes(Fault(FaultKind.NO_TENSOR, site.location), lanes, site)
                good = good & ~lanes
                continue
            positions = position_of(addresses)
            bad = self._rejected(buffer, positions, lanes, dtype_of(type).itemsize, site, kind)
            index = torch.div(positions, dtype_of(type).itemsize, rounding_mode="floor")
            parts.append(Part(number, Indexed(index, lanes & ~bad)))
            good = good & ~bad
        return Lanes(tuple(parts), None if bool(good.all()) else good, shape, torch.equal(good, mask))

    def _rejected(
        self, buffer: Buffer, positions: torch.Tensor, lanes: torch.Tensor, size: int, site: Site, kind: FaultKind
    ) -> torch.Tensor:
        """The lanes that must not access the buffer where they do."""
        bad = ((positions < buffer.low) | (positions + size > buffer.high)) & lanes
        self._report(kind, buffer, bad, positions, site)
        if not buffer.is_dense:
            between = buffer.is_between(torch.where(lanes & ~bad, positions, buffer.low)) & lanes & ~bad
            self._report(FaultKind.BETWEEN_ELEMENTS, buffer, between, positions, site)
            bad = bad | between
        odd = (positions % size != 0) & lanes & ~bad
        self._report(FaultKind.MISALIGNED, buffer, odd, positions, site)
        return bad | odd

    def _report(self, kind: FaultKind, buffer: Buffer, bad: torch.Tensor, positions: torch.Tensor, site: Site) -> None:
        if self.is_checked and bool(bad.any()):
            self.faults.add_lanes(Fault(kind, site.location, buffer.name), bad, site, buffer.element(positions))

    def _check_address(self, pointer: Value, mask: torch.Tensor, site: Site) -> None:
        for fault, doubt in self._doubted(pointer, site):
            self.report_lanes(fault, ~mask_tensor(doubt.sound) & mask, pointer, site)

    def _doubted(self, pointer: Value, site: Site) -> Iterator[tuple[Fault, Doubt]]:
        """What an address that is in doubt would be reported as."""
        doubts = ((FaultKind.UNDEFINED_ADDRESS, pointer.undefined), (FaultKind.OVERFLOW_ADDRESS, pointer.wrapped))
        for kind, doubt in doubts:
            if doubt is not None and self.is_checked:
                yield Fault(kind, site.location, origin=doubt.origin), doubt

    def report_lanes(self, fault: Fault, bad: torch.Tensor, pointer: Value, site: Site) -> None:
        """Report the lanes in which `bad` holds, with the tensor and the element that the first of them goes to."""
        if not bool(bad.any()):
            return
        addresses = pointer.tensor(Type("ptr"))
        addresses, bad = torch.broadcast_tensors(addresses, bad)
        buffer = self.space[buffer_of(int(addresses[tuple(bad.nonzero()[0])]))]
        if buffer is None:
            self.faults.add_lanes(fault, bad, site)
        else:
            elements = buffer.element(position_of(addresses))
            self.faults.add_lanes(replace(fault, tensor=buffer.name), bad, site, elements)


def _certain(pointer: Value, where: Mask | None) -> Affine | None:
    """Addresses that are affine, and nothing about those that are meant in doubt."""
    if pointer.undefined is None and pointer.wrapped is None:
        return pointer.affine
    doubts = [doubt for doubt in (pointer.undefined, pointer.wrapped) if doubt is not None]
    is_known = all(where is not None and is_known_within(where, doubt.sound) for doubt in doubts)
    return pointer.affine if is_known else None


def _parted(box: Box, axes: Sequence[int]) -> tuple[torch.Tensor | None, tuple[slice, ...]] | None:
    """A mask as the lanes along these axes, the same for all, and the truth along the others, where it is so."""
    inner = Box(tuple(one if axis in axes else None for axis, one in enumerate(box.intervals)), box.shape)
    outer = Box(tuple(None if axis in axes else one for axis, one in enumerate(box.intervals)), box.shape)
    if not inner.is_uniform:
        return None
    kept = None if outer.is_full else outer.tensor()
    return None if kept is not None and not bool(kept.any()) else (kept, inner.slices)


def _replaced(base: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """The bases, any of those that are kept in place of the others."""
    base, kept = torch.broadcast_tensors(base, kept)
    return chosen(kept, base, base.reshape(-1)[_first(kept)])


def _first(kept: torch.Tensor) -> int:
    """The place of the first that is kept, among all in one row; most often it is near the front."""
    row = kept.reshape(-1).view(torch.uint8)
    place = int(row[:_NEAR].argmax())
    return place if row[place] else int(row.argmax())


def _axes(number: int | Progression) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The first program's address, and the steps and sizes of the axes of programs: one if that is enough."""
    if isinstance(number, int):
        return number, (0,), (1,)
    step = number.step
    return (number.first, number.steps, number.sizes) if step is None else (number.first, (step,), (number.count,))


def _are_corners_in(buffer: Buffer, at: Affine, positions: torch.Tensor, box: Box | None, size: int) -> bool:
    """Whether the least and the greatest position of each program's lanes lie in the buffer, where it has any."""
    low, high = positions, positions + size
    is_empty: torch.Tensor | bool = False
    bounds = [(0, n) for n in at.shape] if box is None else box.bounds()
    for (first, behind), stride in zip(bounds, at.strides, strict=True):
        least, greatest = (first, behind - 1) if stride >= 0 else (behind - 1, first)
        low, high = low + least * stride, high + greatest * stride
        is_empty = is_empty | (behind <= first)
    return bool(((low >= buffer.low) & (high <= buffer.high) | is_empty).all())


def _shape(elements: torch.Tensor, mask: torch.Tensor | None, type: Type) -> tuple[int, ...]:
    """That of all lanes: programs or 1, then the block's sizes."""
    programs = elements.shape[0] if mask is None or mask.shape[0] == 1 else mask.shape[0]
    return (programs, *type.shape)


def _buffers(addresses: torch.Tensor, mask: torch.Tensor) -> list[int]:
    """The numbers of the buffers that the lanes under the mask go to."""
    if not bool(mask.any()):
        return []
    meant = _replaced(addresses, mask)
    low, high = (int(edge) for edge in torch.aminmax(meant))
    if buffer_of(low) == buffer_of(high):
        return [buffer_of(low)]
    return [int(number) for number in buffer_of(meant).unique()]
