"""Loads, stores and atomics of all programs at once: through views where addresses are even, else lane by lane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import torch

from tritonaudit.simulator.addressing import Addressing, Gathered, Part, View
from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.boxes import Box
from tritonaudit.simulator.faults import Fault, Kind, Site
from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.memory import Buffer
from tritonaudit.simulator.notes import Notes
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.selection import Selection
from tritonaudit.simulator.sync import Ordering
from tritonaudit.simulator.values import Doubt, Mask, Value, is_within, joined, mask_tensor, merged

_MANY_LANES = 1 << 11
"""Of one program, so many that a view of its own costs less than finding the place of every lane."""


@dataclass(frozen=True, eq=False)
class Accesses:
    """Executes the accesses of a launch to its memory; without `notes` nothing is looked for."""

    addressing: Addressing
    notes: Notes | None

    # -- loads -----------------------------------------------------------------------------------------------------

    def load(self, pointer: Value, mask: Value | None, other: torch.Tensor | None, type: Type, site: Site) -> Value:
        """The loaded elements; `other` where the mask does not hold, zeros that are undefined without it."""
        where = _mask(mask)
        if isinstance(pointer.data, Rows):
            return self._load(pointer, _unless_full(where, len(site.programs)), other, type, site)
        groups = _groups(where, len(site.programs))
        if groups is None:
            return self._load(pointer, where, other, type, site)
        return self._load_apart(groups, pointer, where, other, type, site)

    def _load_apart(
        self,
        groups: Iterable[torch.Tensor],
        pointer: Value,
        where: Mask | None,
        other: torch.Tensor | None,
        type: Type,
        site: Site,
    ) -> Value:
        parts = []
        for places in groups:
            fill = other if other is None or other.shape[0] == 1 else other[places]
            part = self._load(pointer.take(places), _taken(where, places), fill, type, site.take(places))
            parts.append((places, part))
        return merged(parts, type, len(site.programs))

    def _load(self, pointer: Value, where: Mask | None, other: torch.Tensor | None, type: Type, site: Site) -> Value:
        if isinstance(where, Box) and where.is_empty:
            empty = _filled(other, (1, *type.shape), dtype_of(type))
            return Value(empty, None if other is not None else _left_out(where, site))
        view = self.addressing.view(pointer, where, type) or self.addressing.shared_view(pointer, where, type)
        if view is None and (gathered := self.addressing.gathered(pointer, where, type, site)) is not None:
            return self._load_gathered(gathered, where, other, type, site)
        if view is None and _goes_alone(pointer, where, type, site):
            return self._load_apart(torch.arange(len(site.programs)).split(1), pointer, where, other, type, site)
        if view is None:
            return self._load_lanes(pointer, where, other, type, site)
        assert where is None or isinstance(where, Box)
        return self._load_view(view, where, other, type, site)

    def _load_view(self, view: View, where: Box | None, other: torch.Tensor | None, type: Type, site: Site) -> Value:
        memory = view.buffer.memory.typed(dtype_of(type))
        found = view.selection.of(memory)
        if view.places is not None:
            found = found[view.places]
        doubt = None if self.notes is None else self.notes.read(view.buffer, view.selection, memory.itemsize, site)
        if where is None or where.is_full:
            return Value(found.clone() if view.buffer.memory.shadow.is_shared else found, doubt)
        whole = _filled(other, (found.shape[0], *type.shape), found.dtype)
        inside = (slice(None), *where.slices())
        whole[inside] = found
        if doubt is not None:
            sound = torch.ones(whole.shape, dtype=torch.bool)
            sound[inside] = mask_tensor(doubt.sound)
            doubt = Doubt(sound, doubt.origin)
        return Value(whole, joined([doubt, None if other is not None else _left_out(where, site)]))

    def _load_gathered(
        self, gathered: Gathered, where: Mask | None, other: torch.Tensor | None, type: Type, site: Site
    ) -> Value:
        found = gathered.selection.of(gathered.buffer.memory.typed(dtype_of(type)))
        if where is None:
            return Value(found)
        count = max(found.shape[0], 1 if gathered.kept is None else gathered.kept.shape[0])
        whole = _filled(other, (count, *type.shape), found.dtype)
        inside = (slice(None), *gathered.lanes)
        if gathered.kept is None:
            whole[inside] = found
        else:
            whole[inside] = torch.where(gathered.kept, found, whole[inside])
        return Value(whole, None if other is not None else _left_out(where, site))

    def _load_lanes(
        self, pointer: Value, where: Mask | None, other: torch.Tensor | None, type: Type, site: Site
    ) -> Value:
        lanes = self.addressing.lanes(pointer, where, type, site, Kind.OUT_OF_BOUNDS_LOAD)
        found = torch.zeros(lanes.shape, dtype=dtype_of(type)) if len(lanes.parts) != 1 else None
        doubts: list[Doubt | None] = []
        for part in lanes.parts:
            memory = part.buffer.memory.typed(dtype_of(type))
            elements = part.selection.of(memory)
            found = elements if found is None else torch.where(part.selection.lanes, elements, found)
            if self.notes is not None:
                doubts.append(self.notes.read(part.buffer, part.selection, memory.itemsize, site))
        assert found is not None
        if lanes.good is not None:
            fill = torch.zeros((), dtype=found.dtype) if other is None else other.to(found.dtype)
            found = torch.where(lanes.good, found, fill)
            asked = None if where is None else mask_tensor(where)
            sound = lanes.good if asked is None else lanes.good | ~asked
            doubts.append(None if bool(sound.all()) else Doubt(sound, site.location))
            if other is None and asked is not None and not bool(asked.all()):
                doubts.append(_left_out(asked, site))
        return Value(found, joined(doubts))

    # -- stores ----------------------------------------------------------------------------------------------------

    def store(self, pointer: Value, value: torch.Tensor, mask: Value | None, type: Type, site: Site) -> None:
        """Write the elements where the mask holds; `type` is that of the value."""
        where = _mask(mask)
        groups = _groups(where, len(site.programs))
        if groups is None:
            self._store(pointer, value, where, type, site)
        else:
            self._store_apart(groups, pointer, value, where, type, site)

    def _store_apart(
        self,
        groups: Iterable[torch.Tensor],
        pointer: Value,
        value: torch.Tensor,
        where: Mask | None,
        type: Type,
        site: Site,
    ) -> None:
        for places in groups:
            part = value if value.shape[0] == 1 else value[places]
            self._store(pointer.take(places), part, _taken(where, places), type, site.take(places))

    def _store(self, pointer: Value, value: torch.Tensor, where: Mask | None, type: Type, site: Site) -> None:
        if isinstance(where, Box) and where.is_empty:
            return
        count = len(site.programs)
        view = self.addressing.view(pointer, where, type)
        if view is not None and view.selection.sizes[0] == count and view.selection.is_injective:
            self._write(view.buffer, view.selection, _boxed(value, where, type), type, site)
            return
        if view is None and _goes_alone(pointer, where, type, site):
            self._store_apart(torch.arange(count).split(1), pointer, value, where, type, site)
            return
        lanes = self.addressing.lanes(pointer, where, type, site, Kind.OUT_OF_BOUNDS_STORE)
        values = value.expand(count, *type.shape)
        for part in lanes.parts:
            whole = part.selection.expand((count, *lanes.shape[1:]))
            self._write(part.buffer, whole, values, type, site)

    def _write(self, buffer: Buffer, selection: Selection, values: torch.Tensor, type: Type, site: Site) -> None:
        memory = buffer.memory.typed(dtype_of(type))
        if self.notes is None:
            selection.put(memory, values)
        else:
            self.notes.write(buffer, selection, memory, values, site)

    # -- atomics ---------------------------------------------------------------------------------------------------

    def atomic(
        self, pointer: Value, mask: Value | None, type: Type, site: Site, ordering: Ordering
    ) -> tuple[Sequence[Part], tuple[int, ...], Doubt | None]:
        """The elements of an atomic, the shape of all its lanes, and what nobody has written; it is noted as one."""
        lanes = self.addressing.lanes(pointer, _mask(mask), type, site, Kind.OUT_OF_BOUNDS_ATOMIC)
        shape = (len(site.programs), *lanes.shape[1:])
        parts = [Part(part.buffer, part.selection.expand(shape)) for part in lanes.parts]
        doubts: list[Doubt | None] = []
        if self.notes is not None:
            for part in parts:
                doubts.append(self.notes.atomic(part.buffer, part.selection, dtype_of(type).itemsize, site))
            self.notes.clocks.tick(site.programs, ordering)
        return parts, shape, joined(doubts)

    def check_stored(self, value: Value, pointer: Value, mask: Value | None, site: Site) -> None:
        """Report lanes that are written to memory although they mean nothing."""
        doubt = value.undefined
        where = _mask(mask)
        if doubt is None or self.notes is None or (where is not None and is_within(where, doubt.sound)):
            return
        bad = ~mask_tensor(doubt.sound)
        if where is not None:
            bad = bad & mask_tensor(where)
        kind = Kind.MASKED_STORED if doubt.is_masked else Kind.UNDEFINED_STORED
        self.addressing.report_lanes(Fault(kind, site.location, origin=doubt.origin), bad, pointer, site)


def _mask(mask: Value | None) -> Mask | None:
    if mask is None:
        return None
    return mask.data.tensor(torch.bool) if isinstance(mask.data, Affine) else mask.data


def _groups(where: Mask | None, programs: int) -> list[torch.Tensor] | None:
    """The programs that a mask holds for in all lanes, in none and in some, where not all are of one kind."""
    if not isinstance(where, Box) or where.is_uniform or programs < 2:
        return None
    full, empty = where.fills(programs), where.is_empty_for(programs)
    found = [group.nonzero().flatten() for group in (full, empty, ~(full | empty)) if bool(group.any())]
    return found if len(found) > 1 or bool(empty.any()) else None


def _unless_full(where: Mask | None, programs: int) -> Mask | None:
    return None if isinstance(where, Box) and bool(where.fills(programs).all()) else where


def _goes_alone(pointer: Value, where: Mask | None, type: Type, site: Site) -> bool:
    """Whether one program after the other, each through a view, is quicker than lane by lane."""
    is_view = pointer.affine is not None and (where is None or isinstance(where, Box))
    return is_view and len(site.programs) > 1 and prod(type.shape) >= _MANY_LANES


def _taken(where: Mask | None, places: torch.Tensor) -> Mask | None:
    if where is None:
        return None
    assert isinstance(where, Box)
    taken = where.take(places)
    return taken.nowhere() if bool(taken.is_empty_for(len(places)).all()) else taken.simplified()


def _left_out(where: Mask, site: Site) -> Doubt:
    """The lanes that a load's mask leaves out."""
    return Doubt(where, site.location, is_masked=True)


def _filled(other: torch.Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if other is None:
        return torch.zeros(shape, dtype=dtype)
    if other.numel() == 1:
        return torch.full(shape, other.item(), dtype=dtype)
    return other.to(dtype).expand(torch.broadcast_shapes(shape, other.shape)).clone()


def _boxed(value: torch.Tensor, where: Mask | None, type: Type) -> torch.Tensor:
    """The part of a block that a uniform box holds."""
    if not isinstance(where, Box) or where.is_full:
        return value
    return value.expand(value.shape[0], *type.shape)[(slice(None), *where.slices())]
