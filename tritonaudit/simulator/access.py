"""Loads, stores and atomics of all programs at once: through views where addresses are even, else lane by lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch

from tritonaudit.simulator.addressing import Addressing, Gathered, Part, View
from tritonaudit.simulator.affine import Affine, Places
from tritonaudit.simulator.boxes import Box
from tritonaudit.simulator.faults import Fault, Kind, Site
from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.memory import Buffer
from tritonaudit.simulator.notes import Notes
from tritonaudit.simulator.numerics.elements import bits_of, dtype_of
from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.selection import Selection
from tritonaudit.simulator.sync import Ordering
from tritonaudit.simulator.values import Doubt, Mask, Value, doubt_merged, is_within, joined, mask_tensor

_MANY_LANES = 1 << 11
"""Of one program, so many that a view of its own costs less than finding the place of every lane."""
_FEW_LANES = 1 << 13
"""Of all programs, so few that finding the place of every lane costs less than finding what they share."""


@dataclass(frozen=True, eq=False)
class Accesses:
    """Executes the accesses of a launch to its memory; without `notes` nothing is looked for."""

    addressing: Addressing
    notes: Notes | None

    # -- loads -----------------------------------------------------------------------------------------------------

    def load(self, pointer: Value, mask: Value | None, other: Value | None, type: Type, site: Site) -> Value:
        """The loaded elements; `other` where the mask does not hold, zeros that are undefined without it."""
        where = _mask(mask)
        groups = None if isinstance(pointer.data, Rows) else _groups(where, site.programs)
        if groups is None:
            found = self._load(pointer, where, other, type, site)
        else:
            found = self._load_apart(groups, pointer, other, type, site)
        if where is None or self.notes is None:
            return found
        left_out = None if other is None else other.undefined
        if other is None and (isinstance(where, Box) or not bool(where.all())):
            left_out = Doubt(where, site.location, is_masked=True)
        return Value(found.data, joined((found.undefined, left_out)))

    def _load_apart(
        self, groups: Sequence[Group], pointer: Value, other: Value | None, type: Type, site: Site
    ) -> Value:
        whole = _filled(other, len(site.programs), type)
        doubts: list[tuple[Places, Doubt | None]] = []
        for group in groups:
            if isinstance(group.where, Box) and group.where.is_empty:
                continue
            fill = None if other is None else other.take(group.places)
            part = self._load(pointer.take(group.places), group.where, fill, type, site.take(group.places))
            whole[group.places] = part.tensor(type)
            doubts.append((group.places, part.undefined))
        return Value(whole, doubt_merged(doubts, len(site.programs)))

    def _load(self, pointer: Value, where: Mask | None, other: Value | None, type: Type, site: Site) -> Value:
        """The same, nothing said of lanes that the mask leaves out."""
        if isinstance(where, Box) and where.is_empty:
            return Value(_filled(other, 1, type))
        view = self.addressing.view(pointer, where, type)
        if view is None and not _is_small(type, site):
            view = self.addressing.shared_view(pointer, where, type)
            if view is None and (gathered := self.addressing.gathered(pointer, where, type, site)) is not None:
                return self._load_gathered(gathered, where, other, type)
            if view is None and _goes_alone(pointer, where, type, site):
                return self._load_apart(_each(where, len(site.programs)), pointer, other, type, site)
        if view is None:
            return self._load_lanes(pointer, where, other, type, site)
        assert where is None or isinstance(where, Box)
        return self._load_view(view, where, other, type, site)

    def _load_view(self, view: View, where: Box | None, other: Value | None, type: Type, site: Site) -> Value:
        memory = view.buffer.memory.typed(dtype_of(type))
        found = view.selection.of(memory)
        if view.places is not None:
            found = found[view.places]
        doubt = None if self.notes is None else self.notes.read(view.buffer, view.selection, memory.itemsize, site)
        if where is None:
            return Value(found.clone() if view.buffer.memory.shadow.is_shared else found, doubt)
        whole = _filled(other, found.shape[0], type)
        inside = (slice(None), *where.slices())
        whole[inside] = found
        if doubt is not None:
            sound = torch.ones(whole.shape, dtype=torch.bool)
            sound[inside] = mask_tensor(doubt.sound)
            doubt = Doubt(sound, doubt.origin)
        return Value(whole, doubt)

    def _load_gathered(self, gathered: Gathered, where: Mask | None, other: Value | None, type: Type) -> Value:
        found = gathered.selection.of(gathered.buffer.memory.typed(dtype_of(type)))
        if where is None:
            return Value(found)
        whole = _filled(other, max(found.shape[0], 1 if gathered.kept is None else gathered.kept.shape[0]), type)
        inside = (slice(None), *gathered.lanes)
        if gathered.kept is None:
            whole[inside] = found
        else:
            whole[inside] = torch.where(gathered.kept, found, whole[inside])
        return Value(whole)

    def _load_lanes(self, pointer: Value, where: Mask | None, other: Value | None, type: Type, site: Site) -> Value:
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
            fill = torch.zeros((), dtype=found.dtype) if other is None else _moved_as(other, type).to(found.dtype)
            found = torch.where(lanes.good, found, fill)
            if not lanes.is_fine:
                sound = lanes.good if where is None else lanes.good | ~mask_tensor(where)
                doubts.append(Doubt(sound, site.location))
        return Value(found, joined(doubts))

    # -- stores ----------------------------------------------------------------------------------------------------

    def store(self, pointer: Value, value: torch.Tensor, mask: Value | None, type: Type, site: Site) -> None:
        """Write the elements where the mask holds; `type` is that of the value."""
        where = _mask(mask)
        groups = _groups(where, site.programs)
        if groups is None:
            self._store(pointer, value, where, type, site)
        else:
            self._store_apart(groups, pointer, value, type, site)

    def _store_apart(
        self, groups: Sequence[Group], pointer: Value, value: torch.Tensor, type: Type, site: Site
    ) -> None:
        for group in groups:
            part = value if value.shape[0] == 1 else value[group.places]
            self._store(pointer.take(group.places), part, group.where, type, site.take(group.places))

    def _store(self, pointer: Value, value: torch.Tensor, where: Mask | None, type: Type, site: Site) -> None:
        if isinstance(where, Box) and where.is_empty:
            return
        count = len(site.programs)
        view = self.addressing.view(pointer, where, type)
        if view is not None and view.selection.shape[0] == count and view.selection.is_injective:
            self._write(view.buffer, view.selection, _boxed(value, where, type), type, site)
            return
        if view is None and _goes_alone(pointer, where, type, site):
            self._store_apart(_each(where, count), pointer, value, type, site)
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
        if doubt is None or self.notes is None:
            return
        where = _mask(mask)
        if where is not None and is_within(where, doubt.sound):
            return
        bad = ~mask_tensor(doubt.sound)
        if where is not None:
            bad = bad & mask_tensor(where)
        kind = Kind.MASKED_STORED if doubt.is_masked else Kind.UNDEFINED_STORED
        self.addressing.report_lanes(Fault(kind, site.location, origin=doubt.origin), bad, pointer, site)


def _mask(mask: Value | None) -> Mask | None:
    """Where an access is made; None for all lanes."""
    if mask is None:
        return None
    where = mask.data.tensor(torch.bool) if isinstance(mask.data, Affine) else mask.data
    if isinstance(where, Box) and where.runs is not None and len(where.runs) == 1:
        where = where.runs[0][1]
    return None if isinstance(where, Box) and where.is_full else where


@dataclass(eq=False, slots=True)
class Group:
    """Programs that access memory together, and the lanes in which they do."""

    places: Places
    where: Mask | None


def _groups(where: Mask | None, programs: Programs) -> Sequence[Group] | None:
    """Programs that go apart: those in a row for which the mask is the same, else those of one kind.

    None where all go together. The kinds: the mask holds in all lanes, in none, and in some.
    """
    if not isinstance(where, Box) or where.is_uniform or len(programs) < 2:
        return None
    count = len(programs)
    if where.runs is not None and where.runs[-1][0].stop == count:
        return [Group(places, None if box.is_full else box) for places, box in where.runs]
    full, empty = where.fills(count), where.is_empty_for(count)
    kinds = [kind.nonzero().flatten() for kind in (full, empty, ~(full | empty)) if bool(kind.any())]
    return [Group(places, _taken(where, places)) for places in kinds] if len(kinds) > 1 or bool(empty.any()) else None


def _each(where: Mask | None, programs: int) -> Sequence[Group]:
    """Every program for itself."""
    return [Group(places, _taken(where, places)) for places in torch.arange(programs).split(1)]


def _is_small(type: Type, site: Site) -> bool:
    """Whether an access has so few lanes that to look at each is quicker than to look for views."""
    return len(site.programs) * prod(type.shape) <= _FEW_LANES


def _goes_alone(pointer: Value, where: Mask | None, type: Type, site: Site) -> bool:
    """Whether one program after the other, each through a view, is quicker than lane by lane."""
    is_view = pointer.affine is not None and (where is None or isinstance(where, Box))
    return is_view and len(site.programs) > 1 and prod(type.shape) >= _MANY_LANES


def _taken(where: Mask | None, places: torch.Tensor) -> Mask | None:
    if where is None:
        return None
    assert isinstance(where, Box)
    taken = where.take(places)
    if bool(taken.is_empty_for(len(places)).all()):
        return taken.nowhere()
    simplified = taken.simplified()
    return None if simplified.is_full else simplified


def _moved_as(other: Value, type: Type) -> torch.Tensor:
    """What is taken where nothing is loaded, as elements of the type that is moved."""
    return bits_of(other.tensor(type))


def _filled(other: Value | None, programs: int, type: Type) -> torch.Tensor:
    """A new block for each of so many programs that holds `other` in all lanes, or zeros."""
    shape, dtype = (programs, *type.shape), dtype_of(type)
    if other is None:
        return torch.zeros(shape, dtype=dtype)
    fill = _moved_as(other, type)
    if fill.numel() == 1:
        return torch.full(shape, fill.item(), dtype=dtype)
    return fill.to(dtype).expand(torch.broadcast_shapes(shape, fill.shape)).clone()


def _boxed(value: torch.Tensor, where: Mask | None, type: Type) -> torch.Tensor:
    """The part of a block that a uniform box holds."""
    if not isinstance(where, Box):
        return value
    return value.expand(value.shape[0], *type.shape)[(slice(None), *where.slices())]
