"""How a fault came about: the lines that what it is about went through, and what their variables held there."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.faults import Fault, FaultKind, Site, Step
from tritonaudit.simulator.ir import Function, Location, Module, Operation, Type
from tritonaudit.simulator.shapes import axis_of
from tritonaudit.simulator.slices import blocks_in, sources_of
from tritonaudit.simulator.values import Value, mask_tensor

Key: TypeAlias = "tuple[str, int]"
"""A value of a module: its function and its number there."""

Lane: TypeAlias = "tuple[int, ...] | None"
"""An element of a block; None where it is not known which."""

_Scope: TypeAlias = "tuple[str, str, tuple[Location, ...]]"
"""A variable, the file it is in, and the calls that its function is inlined through."""

_ASSIGNED = re.compile(r"\s*(?:for\s+(\w+)\s+in\b|(\w+)\s*(?::[^=]*)?(?://|>>|<<|[-+*/%&|^@])?=(?!=))")
_LOADS = ("tt.load", "tt.atomic_rmw", "tt.atomic_cas", "tt.descriptor_load", "tt.descriptor_gather")
_STORED = (FaultKind.UNDEFINED_STORED, FaultKind.MASKED_STORED)
_MASKS = (FaultKind.UNDEFINED_MASK, FaultKind.MASKED_MASK)
_MASK_GROUPS = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2, "tt.atomic_load": 1, "tt.atomic_store": 2}
_LIBRARY = "/triton/language/"


@dataclass(frozen=True, eq=False)
class Chains:
    """Follows values back through a module, on demand; `names` are those of the kernel's arguments in order."""

    module: Module
    names: Sequence[str] = ()

    def of(self, fault: Fault, site: Site, first: tuple[int, ...]) -> tuple[Step, ...]:
        """The lines up to the fault's own; `first` is the place of its program in the site, and its lane."""
        function = site.frame.function
        asked = _asked(site.operation, fault.kind)
        place = site.place_in_frame(first[0])
        origin = None if fault.kind is FaultKind.OVERFLOW_ADDRESS else fault.origin
        through = self._behind([(function.name, number) for number in asked], first[1:], origin is None)
        if origin is not None:
            ahead = self._ahead(origin)
            through = {key: lane for key, lane in through.items() if key in ahead}
        lines: dict[tuple[str, int], list[tuple[str, Any]]] = {}
        for key in sorted(through, key=lambda key: (key[0] == function.name, key)):
            location = self._location(key)
            if location is None:
                continue
            values = lines.pop((location.path, location.line), [])  # the line stands where the last of it does
            lines[location.path, location.line] = values
            label = self._label(key)
            if label is not None and key[0] == function.name and key[1] <= max(asked, default=0):
                values += [(label, found) for found in _held(site, key[1], place, through[key])]
        if site.location is not None and origin is not None:
            lines.setdefault((_user_place(site.location).path, _user_place(site.location).line), [])
        return tuple(Step(path, line, tuple(values)) for (path, line), values in lines.items())

    # -- ways ------------------------------------------------------------------------------------------------------

    def _behind(self, ends: Sequence[Key], lane: Lane, stops_at_loads: bool) -> dict[Key, Lane]:
        """What the values are computed of, each with the lane that matters, themselves included."""
        found: dict[Key, Lane] = {}
        waiting = [(key, _fitting(lane, self._type(key))) for key in ends]
        while waiting:
            key, lane = waiting.pop(0)
            if key in found:
                continue
            found[key] = lane
            maker = self._makers.get(key)
            if stops_at_loads and maker is not None and maker.name in _LOADS:
                continue
            for source in self._sources.get(key, ()):
                before, after = self._type(source), self._type(key)
                waiting.append((source, _lane_before(lane, maker, before, after)))
        return found

    def _ahead(self, origin: Location) -> set[Key]:
        """All that is computed of what the operations at a place give."""
        waiting = [key for key, operation in self._makers.items() if operation.location == origin]
        found: set[Key] = set()
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                waiting.extend(self._users.get(key, ()))
        return found

    @cached_property
    def _sources(self) -> dict[Key, list[Key]]:
        found: dict[Key, list[Key]] = {}
        for function in self.module.functions:
            for number, sources in sources_of(function).items():
                found[function.name, number] = [(function.name, source) for source in sources]
        for function in self.module.functions:
            for operation in blocks_in(function.region.blocks):
                if operation.name == "tt.call":
                    self._connect(function.name, operation, found)
        return found

    def _connect(self, caller: str, call: Operation, sources: dict[Key, list[Key]]) -> None:
        """What a function is given comes from where it is called, what the call gives from what it returns."""
        callee = self.module.function(call.attributes["callee"])
        for argument, operand in zip(callee.arguments, call.operands, strict=True):
            sources.setdefault((callee.name, argument), []).append((caller, operand))
        for operation in blocks_in(callee.region.blocks):
            if operation.name == "tt.return":
                for result, returned in zip(call.results, operation.operands, strict=True):
                    sources.setdefault((caller, result), []).append((callee.name, returned))

    @cached_property
    def _users(self) -> dict[Key, list[Key]]:
        found: dict[Key, list[Key]] = {}
        for key, sources in self._sources.items():
            for source in sources:
                found.setdefault(source, []).append(key)
        return found

    # -- what values are -------------------------------------------------------------------------------------------

    @cached_property
    def _functions(self) -> dict[str, Function]:
        return {function.name: function for function in self.module.functions}

    @cached_property
    def _makers(self) -> dict[Key, Operation]:
        """The operation that gives each value; that of the region for the arguments of its blocks."""
        found: dict[Key, Operation] = {}
        for function in self.module.functions:
            for operation in blocks_in(function.region.blocks):
                arguments = [one for region in operation.regions for block in region.blocks for one in block.arguments]
                for number in (*operation.results, *arguments):
                    found[function.name, number] = operation
        return found

    def _type(self, key: Key) -> Type:
        return self._functions[key[0]].types[key[1]]

    def _location(self, key: Key) -> Location | None:
        """Where the user's own source makes a value; of constants, which may stand for several, it is not known."""
        maker = self._makers.get(key)
        function = self._functions[key[0]]
        if maker is not None and maker.name == "arith.constant":
            return None
        location = maker.location if maker is not None else function.location if key[1] in function.arguments else None
        return None if location is None else _user_place(location)

    def _label(self, key: Key) -> str | None:
        """What to call a value that is worth showing."""
        function, number = self._functions[key[0]], key[1]
        if function.types[number].is_pointer:
            return None
        if number in function.arguments:
            place = function.arguments.index(number)
            is_named = function.is_public and place < len(self.names)
            return self.names[place] if is_named else function.names.get(number)
        maker = self._makers.get(key)
        if maker is None:
            return None
        if maker.name == "scf.for" and number in (arguments := maker.regions[0].block.arguments):
            return _target(maker.location) if number == arguments[0] else self._carried(key[0], maker, number)
        if number in self._assigned[function.name]:
            return function.names.get(number) or _target(self._location(key))
        if maker.name in ("tt.get_program_id", "tt.get_num_programs"):
            return f"{maker.name.removeprefix('tt.get_')}({axis_of(maker)})"
        if maker.name == "tt.make_range":
            return "arange"
        return "load" if maker.name in _LOADS else None

    def _carried(self, function: str, loop: Operation, number: int) -> str | None:
        """What to call a value that a loop carries: as what a round makes of it."""
        block = loop.regions[0].block
        after = self._makers.get((function, block.operations[-1].operands[block.arguments.index(number) - 1]))
        if after is None or after.location is None:
            return None
        return after.location.name or _target(after.location)

    @cached_property
    def _assigned(self) -> dict[str, set[int]]:
        """In each function, the values that variables hold."""
        return {function.name: _assigned_in(function) for function in self.module.functions}


def _assigned_in(function: Function) -> set[int]:
    """Of the values that one line makes for a variable the last; of a statement of several lines that of its first."""
    last: dict[tuple[_Scope, int], int] = {}
    for operation in blocks_in(function.region.blocks):
        location = operation.location
        if location is None or len(operation.results) != 1 or operation.regions:
            continue
        name = location.name or _target(location)
        if name is not None:
            last[(name, location.path, location.callers), location.line] = operation.results[0]
    found: set[int] = set()
    latest: dict[_Scope, int] = {}
    for (scope, _), number in sorted(last.items(), key=lambda item: item[0][1]):
        if number > latest.get(scope, -1):
            latest[scope] = number
            found.add(number)
    return found


# -- lanes -------------------------------------------------------------------------------------------------------------


def _fitting(lane: Lane, type: Type) -> Lane:
    if not type.rank:
        return ()
    return lane if lane is not None and len(lane) == type.rank else None


def _lane_before(lane: Lane, maker: Operation | None, before: Type, after: Type) -> Lane:
    """The lane of an operand that decides about a lane of the result."""
    if lane is None or not before.rank or maker is None:
        return _fitting(lane, before)
    if maker.name == "tt.broadcast":
        return tuple(0 if size == 1 else one for size, one in zip(before.shape, lane, strict=True))
    if maker.name == "tt.expand_dims":
        axis = int(maker.attributes["axis"])
        return (*lane[:axis], *lane[axis + 1 :])
    if maker.name == "tt.trans":
        places = dict(zip((int(axis) for axis in maker.attributes["order"]), lane, strict=True))
        return tuple(places[axis] for axis in range(before.rank))
    return lane if before.shape == after.shape and not maker.name.startswith(("tt.gather", "tt.scan")) else None


# -- values ------------------------------------------------------------------------------------------------------------


def _held(site: Site, number: int, place: int, lane: Lane) -> Iterator[int | float | bool]:
    """What a program has there for a value, if that is known and means anything."""
    type = site.frame.function.types[number]
    try:
        value: Value = site.frame[number]
    except KeyError:
        return
    if lane is None or site.frame.has_lanes:
        return
    if value.undefined is None or bool(_element(mask_tensor(value.undefined.sound), place, lane)):
        at = value.affine
        yield _affine_element(at, place, lane) if at is not None else _element(value.tensor(type), place, lane)


def _affine_element(at: Affine, place: int, lane: tuple[int, ...]) -> int:
    base = at.base if isinstance(at.base, int) else int(at.base[place])
    return base + sum(stride * one for stride, one in zip(at.strides, lane, strict=True))


def _element(data: torch.Tensor, place: int, lane: tuple[int, ...]) -> Any:
    """Axes of size 1 are the same for all."""
    places = (place, *lane)[: data.dim()]
    return data[tuple(min(one, size - 1) for one, size in zip(places, data.shape, strict=True))].item()


# -- what is asked -----------------------------------------------------------------------------------------------------


def _asked(operation: Operation, kind: FaultKind) -> Sequence[int]:
    """The operands that a fault of this kind is about."""
    if kind is FaultKind.DIVISION_BY_ZERO:
        return operation.operands[1:2]
    if operation.name == "scf.while":
        return operation.regions[0].block.operations[-1].operands[:1]
    if operation.name == "scf.for":
        return operation.operands[:3]
    if operation.name in ("scf.if", "cf.cond_br"):
        return operation.operands[:1]
    mask = _MASK_GROUPS.get(operation.name, 0)
    groups = (1,) if kind in _STORED else (mask,) if kind in _MASKS else (0, mask)
    return [one for one in dict.fromkeys(operation.operand(group) for group in groups) if one is not None]


def _user_place(location: Location) -> Location:
    """Of what stands in Triton's own library, the place of the call."""
    return next((one for one in (location, *location.callers) if _LIBRARY not in one.path), location)


def _target(location: Location | None) -> str | None:
    """The variable that the line of the source sets."""
    if location is None:
        return None
    found = _ASSIGNED.match(linecache.getline(location.path, location.line))
    return None if found is None else found[1] or found[2]
