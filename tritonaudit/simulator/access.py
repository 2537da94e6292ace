"""Loads, stores and atomics of all programs at once: through views where addresses are even, else lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import torch

from tritonaudit.simulator.addressing import Addressing, Gathered, Lanes, Part, View
from tritonaudit.simulator.affine import Affine, Places
from tritonaudit.simulator.boxes import Box
from tritonaudit.simulator.faults import Fault, FaultKind, Site
from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.notes import Notes
from tritonaudit.simulator.numerics.elements import bits_of, chosen, dtype_of
from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.recall import Recall
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.selection import Selection
from tritonaudit.simulator.sync import Ordering
from tritonaudit.simulator.values import Doubt, Mask, Value, doubt_merged, is_within, joined, mask_tensor

_MANY_LANES = 1 << 11
"""Of one program, so many that a view of its own costs less than finding the place of every lane."""
_FEW_LANES = 1 << 13
"""Of all programs, so few that finding the place of every lane costs less than finding what they share."""


@dataclass(eq=False, slots=True)
class Way:
    """How an access is made where the mask says: as `found` says, or by `groups` of programs, each its own way.

    Where there are neither, no lane is meant. Nothing changes it once made.
    """

    where: Mask | None
    found: View | Gathered | Lanes | None = None
    groups: Sequence[tuple[Places, Way]] = ()

    @property
    def is_nowhere(self) -> bool:
        return self.found is None and not self.groups

    @property
    def tensors(self) -> Sequence[torch.Tensor]:
        """What it holds that may be large."""
        parts = self.found.parts if isinstance(self.found, Lanes) else ()
        inner = [tensor for _, way in self.groups for tensor in way.tensors]
        return [*inner, *(part.selection.index for part in parts)]


_Finding: TypeAlias = "Callable[[Value, Mask | None, Type, Site], Way]"


@dataclass(frozen=True, eq=False)
class Accesses:
    """Executes the accesses of a launch to its memory; without `notes` nothing is looked for.

    With `recall` it is kept how accesses are made that are the same in each launch of one form.
    """

    addressing: Addressing
    notes: Notes | None
    recall: Recall | None = None

    def memory(self, part: Part | Gathered, dtype: torch.dtype) -> torch.Tensor:
        """What part of an access goes to, as elements of a type."""
        return self.addressing.space.buffer(part.buffer).memory.typed(dtype)

    def _way(self, find: _Finding, pointer: Value, mask: Value | None, type: Type, site: Site) -> Way:
        """How an access is made, which is found once where it is the same in each launch of a form."""
        kept = None if self.recall is None else self.recall.ways(site.operation)
        if self.recall is None or kept is None:
            return find(pointer, _mask(mask), type, site)
        number = id(site.operation)
        way = kept.get(number)
        if way is None:
            way = kept[number] = find(pointer, _mask(mask), type, site)
            self.recall.take_in(way.tensors)
        return way

    # -- loads -----------------------------------------------------------------------------------------------------

    def load(self, pointer: Value, mask: Value | None, other: Value | None, type: Type, site: Site) -> Value:
        """The loaded elements; `other` where the mask does not hold, zeros that are undefined without it."""
        way = self._way(self._way_to_load, pointer, mask, type, site)
        found, where = self._loaded(way, other, type, site), way.where
        if mask is None or self.notes is None:
            return found
        doubts = [found.undefined, self._doubt_of(mask, pointer, site)]
        if where is not None:
            left_out = None if other is None else other.undefined
            if other is None and (isinstance(where, Box) or not bool(where.all())):
                left_out = Doubt(where, site.location, is_masked=True)
            doubts.append(left_out)
        return Value(found.data, joined(doubts))

    def _doubt_of(self, mask: Value, pointer: Value, site: Site) -> Doubt | None:
        """What is in doubt of what is loaded since its mask is: that is no fault where every GPU has the mask alike."""
        if mask.undefined is not None and mask.undefined.is_masked:
            return mask.undefined
        self._check_mask(mask, pointer, site)
        return None

    def _way_to_load(self, pointer: Value, where: Mask | None, type: Type, site: Site) -> Way:
        groups = None if isinstance(pointer.data, Rows) else _groups(where, site.programs)
        if groups is not None:
            return _apart(self._way_of_load, groups, pointer, where, type, site)
        return self._way_of_load(pointer, where, type, site)

    def _way_of_load(self, pointer: Value, where: Mask | None, type: Type, site: Site) -> Way:
        """That of programs that go together as far as the mask is concerned."""
        if isinstance(where, Box) and where.is_empty:
            return Way(where)
        view = self.addressing.view(pointer, where, type)
        if view is None and not _is_small(type, site):
            view = self.addressing.shared_view(pointer, where, type)
            if view is None and (gathered := self.addressing.gathered(pointer, where, type, site)) is not None:
                return Way(where, gathered)
            if view is None and _goes_alone(pointer, where, type, site):
                return _apart(self._way_of_load, _each(where, len(site.programs)), pointer, where, type, site)
        if view is None:
            return Way(where, self.addressing.lanes(pointer, where, type, site, FaultKind.OUT_OF_BOUNDS_LOAD))
        return Way(where, view)

    def _loaded(self, way: Way, other: Value | None, type: Type, site: Site) -> Value:
        """The same, nothing said of lanes that the mask leaves out."""
        if isinstance(way.found, View):
            assert not isinstance(way.where, torch.Tensor)
            return self._load_view(way.found, way.where, other, type, site)
        if way.groups:
            return self._load_apart(way.groups, other, type, site)
        if way.found is None:
            return Value(_filled(other, 1, type))
        if isinstance(way.found, Gathered):
            return self._load_gathered(way.found, way.where, other, type)
        return self._load_lanes(way.found, way.where, other, type, site)

    def _load_apart(self, groups: Sequence[tuple[Places, Way]], other: Value | None, type: Type, site: Site) -> Value:
        whole = _filled(other, len(site.programs), type)
        doubts: list[tuple[Places, Doubt | None]] = []
        for places, way in groups:
            if way.is_nowhere:
                continue
            fill = None if other is None else other.take(places)
            part = self._loaded(way, fill, type, site.take(places))
            whole[places] = part.tensor(type)
            doubts.append((places, part.undefined))
        return Value(whole, doubt_merged(doubts, len(site.programs)))

    def _load_view(self, view: View, where: Box | None, other: Value | None, type: Type, site: Site) -> Value:
        buffer = self.addressing.space.buffer(view.buffer)
        memory = buffer.memory.typed(dtype_of(type))
        found = view.selection.of(memory)
        if view.places is not None:
            found = found[view.places]
        doubt = None if self.notes is None else self.notes.read(buffer, view.selection, memory.itemsize, site)
        if where is None:
            return Value(found.clone() if buffer.memory.shadow.is_shared else found, doubt)
        whole = _filled(other, found.shape[0], type)
        inside = (slice(None), *where.slices)
        whole[inside] = found
        if doubt is not None:
            sound = torch.ones(whole.shape, dtype=torch.bool)
            sound[inside] = mask_tensor(doubt.sound)
            doubt = Doubt(sound, doubt.origin)
        return Value(whole, doubt)

    def _load_gathered(self, gathered: Gathered, where: Mask | None, other: Value | None, type: Type) -> Value:
        found = gathered.selection.of(self.memory(gathered, dtype_of(type)))
        if where is None:
            return Value(found)
        whole = _filled(other, max(found.shape[0], 1 if gathered.kept is None else gathered.kept.shape[0]), type)
        inside = (slice(None), *gathered.lanes)
        if gathered.kept is None:
            whole[inside] = found
        else:
            whole[inside] = torch.where(gathered.kept, found, whole[inside])
        return Value(whole)

    def _load_lanes(self, lanes: Lanes, where: Mask | None, other: Value | None, type: Type, site: Site) -> Value:
        found = torch.zeros(lanes.shape, dtype=dtype_of(type)) if len(lanes.parts) != 1 else None
        doubts: list[Doubt | None] = []
        for part in lanes.parts:
            buffer = self.addressing.space.buffer(part.buffer)
            memory = buffer.memory.typed(dtype_of(type))
            elements = part.selection.of(memory)
            found = elements if found is None else chosen(part.selection.lanes, elements, found)
            if self.notes is not None:
                doubts.append(self.notes.read(buffer, part.selection, memory.itemsize, site))
        assert found is not None
        if lanes.good is not None:
            fill = torch.zeros((), dtype=found.dtype) if other is None else _moved_as(other, type).to(found.dtype)
            found = chosen(lanes.good, found, fill)
            if not lanes.is_fine:
                sound = lanes.good if where is None else lanes.good | ~mask_tensor(where)
                doubts.append(Doubt(sound, site.location))
        return Value(found, joined(doubts))

    # -- stores ----------------------------------------------------------------------------------------------------

    def store(self, pointer: Value, value: torch.Tensor, mask: Value | None, type: Type, site: Site) -> None:
        """Write the elements where the mask holds; `type` is that of the value."""
        self._check_mask(mask, pointer, site)
        self._stored(self._way(self._way_to_store, pointer, mask, type, site), value, type, site)

    def _way_to_store(self, pointer: Value, where: Mask | None, type: Type, site: Site) -> Way:
        groups = _groups(where, site.programs)
        if groups is not None:
            return _apart(self._way_of_store, groups, pointer, where, type, site)
        return self._way_of_store(pointer, where, type, site)

    def _way_of_store(self, pointer: Value, where: Mask | None, type: Type, site: Site) -> Way:
        """That of programs that go together as far as the mask is concerned."""
        if isinstance(where, Box) and where.is_empty:
            return Way(where)
        view = self.addressing.view(pointer, where, type)
        if view is not None and view.selection.shape[0] == len(site.programs) and view.selection.is_injective:
            return Way(where, view)
        if view is None and _goes_alone(pointer, where, type, site):
            return _apart(self._way_of_store, _each(where, len(site.programs)), pointer, where, type, site)
        return Way(where, self.addressing.lanes(pointer, where, type, site, FaultKind.OUT_OF_BOUNDS_STORE))

    def _stored(self, way: Way, value: torch.Tensor, type: Type, site: Site) -> None:
        for places, inner in way.groups:
            part = value if value.shape[0] == 1 else value[places]
            self._stored(inner, part, type, site.take(places))
        if isinstance(way.found, View):
            self._write(way.found, way.found.selection, _boxed(value, way.where, type), type, site)
        elif isinstance(way.found, Lanes):
            count = len(site.programs)
            values = value.expand(count, *type.shape)
            for part in way.found.parts:
                whole = part.selection.expand((count, *way.found.shape[1:]))
                self._write(part, whole, values, type, site)

    def _write(self, part: View | Part, selection: Selection, values: torch.Tensor, type: Type, site: Site) -> None:
        buffer = self.addressing.space.buffer(part.buffer)
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
        self._check_mask(mask, pointer, site)
        lanes = self.addressing.lanes(pointer, _mask(mask), type, site, FaultKind.OUT_OF_BOUNDS_ATOMIC)
        shape = (len(site.programs), *lanes.shape[1:])
        parts = [Part(part.buffer, part.selection.expand(shape)) for part in lanes.parts]
        doubts: list[Doubt | None] = []
        if self.notes is not None:
            for part in parts:
                buffer = self.addressing.space.buffer(part.buffer)
                doubts.append(self.notes.atomic(buffer, part.selection, dtype_of(type).itemsize, site))
            self.notes.clocks.tick(site.programs, ordering, _places(parts))
        return parts, shape, joined(doubts)

    def _check_mask(self, mask: Value | None, pointer: Value, site: Site) -> None:
        """Report lanes that are accessed, or left out, for no reason."""
        if mask is None or mask.undefined is None or self.notes is None:
            return
        doubt = mask.undefined
        kind = FaultKind.MASKED_MASK if doubt.is_masked else FaultKind.UNDEFINED_MASK
        fault = Fault(kind, site.location, origin=doubt.origin)
        self.addressing.report_lanes(fault, ~mask_tensor(doubt.sound), pointer, site)

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
        kind = FaultKind.MASKED_STORED if doubt.is_masked else FaultKind.UNDEFINED_STORED
        self.addressing.report_lanes(Fault(kind, site.location, origin=doubt.origin), bad, pointer, site)


def _places(parts: Sequence[Part]) -> Sequence[Hashable] | None:
    """The place of each program's atomic; None where it has several, or none."""
    if len(parts) != 1:
        return None
    selection = parts[0].selection
    is_one = selection.index.numel() == selection.index.shape[0]
    if not is_one or (selection.kept is not None and not bool(selection.kept.all())):
        return None
    return [(parts[0].buffer, element) for element in selection.index.reshape(-1).tolist()]


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


def _apart(find: _Finding, groups: Sequence[Group], pointer: Value, where: Mask | None, type: Type, site: Site) -> Way:
    """Each group of programs its own way."""
    ways = [
        (group.places, find(pointer.take(group.places), group.where, type, site.take(group.places))) for group in groups
    ]
    return Way(where, None, ways)


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
    return value.expand(value.shape[0], *type.shape)[(slice(None), *where.slices)]
