"""Does an access stay inside its tensor in a launch that the host code makes?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less, Mask
from tritonaudit.host.arithmetic import TooLarge
from tritonaudit.host.host import Host, LaunchSite
from tritonaudit.queries.answer import Proven, Refuted, Unknown
from tritonaudit.queries.memory import Memory, memory_for
from tritonaudit.queries.points import NotKnown, Point, ends, extents_in, loops_in, rounds_of
from tritonaudit.queries.sizes import Put, chosen_configs, inputs_of, tried, without_strides

_MOST_REPLAYED, _MOST_POINTS, _MOST_UNKNOWNS = 24, 1500, 4
_GIVEN = (AtomKind.PARAM, AtomKind.CONSTEXPR)


@dataclass(frozen=True, eq=False)
class Beyond:
    """In a launch, a lane of a program is at `element` of a tensor that has `elements`; `tile` are its constants."""

    access: Access
    site: LaunchSite
    program: tuple[int, int, int]
    lanes: Mapping[int, int]
    element: int
    elements: int
    tile: Mapping[str, int]


Answer = Proven | Refuted[Beyond] | Unknown


def bounds(host: Host, site: LaunchSite, flow: KernelFlow, access: Access) -> Answer:
    """Whether some launch of the site has the access read or write past its tensor."""
    origin, address = access.pointer.origin, access.pointer.affine
    if access.pointer.block is not None or origin is None or address is None:
        return Unknown("the address is not a sum that is understood")
    memory = memory_for(site, origin.name)
    if memory is None:
        return Unknown(f"what the launch passes for `{origin.name}`, or how large it is, is not known")
    if site.doubt or not site.is_whole:
        return Unknown(site.doubt or "it passes more than its text shows")
    if not flow.whiles.isdisjoint(access.loops):
        return Unknown("how often a `while` loop runs is not known")
    asked = _Asked(host, site, access, address - Affine.of(origin), memory)
    try:
        return asked.answer()
    except TooLarge:
        return Unknown("its sizes are products of too many numbers")


def in_all_launches(flow: KernelFlow, access: Access) -> Refuted[Beyond] | bool:
    """What shows that the access leaves its tensor; else whether it stays inside at all sizes tried, in each launch."""
    answers = [bounds(flow.launches.host, site, flow, access) for site in flow.launches.sites]
    refuted = next((answer for answer in answers if isinstance(answer, Refuted)), None)
    if refuted is not None:
        return refuted
    return bool(answers) and all(isinstance(one, Proven) or (isinstance(one, Unknown) and one.held) for one in answers)


class _Asked:
    """The question of one access and launch."""

    def __init__(self, host: Host, site: LaunchSite, access: Access, index: Affine, memory: Memory) -> None:
        self._host, self._site, self._access, self._index, self._memory = host, site, access, index, memory
        self._mask: Mask = frozenset() if access.mask is None else access.mask.mask or frozenset()
        self._is_masked = access.mask is not None and access.mask.mask is None
        gaps = [one.gap for one in self._mask if isinstance(one, Less)]
        self._values = [index, *gaps, *(gap for guard in access.path for gap in guard.affines)]
        self._loops = loops_in(self._values)

    def answer(self) -> Answer:
        if self._is_masked or any(not isinstance(one, Less) for one in self._mask):
            return Unknown("a part of its mask is not understood")
        if not set(self._access.loops) <= {loop.id for loop in self._loops}:
            return Unknown("how often a loop around it runs is not known")
        passed = [self._passed(name) for name in sorted(self._parameters())]
        axes = [self._site.axis(axis) for axis in range(3)]
        if None in passed or None in axes:
            return Unknown("the grid, or a number that the launch passes, is not known")
        known = [value for value in (*passed, *axes) if value is not None]
        return self._over_configs(known)

    def _over_configs(self, known: Sequence[Affine]) -> Answer:
        facts, elements = self._site.facts(), self._memory.elements
        found: Answer = Unknown("no sizes that were tried show anything")
        for put in chosen_configs(self._site, [elements, *known]):
            values = [facts.normal(self._site.arithmetic.put_in(value, put.get)) for value in (elements, *known)]
            needed, owned = inputs_of(values[1:]), inputs_of(values[:1])
            others = without_strides(needed) - owned
            strange = [one for one in without_strides(needed | owned) if one.kind is not AtomKind.PARAM]
            strange += [one for one in others | owned if others and not _is_dimension(one)]
            asked = without_strides(needed | owned) | self._conditions()
            if any(map(_is_of_tensor, asked)):
                strange += [one for one in asked if not _is_of_tensor(one)]
            if strange:
                found = Unknown(f"nothing says how `{strange[0].name}` and the size of the tensor belong together")
                continue
            found = self._tried(values, put, are_equal=bool(others))
            if isinstance(found, Refuted):
                return found
        return found

    def _tried(self, values: Sequence[Affine], put: Put, *, are_equal: bool) -> Answer:
        """Tensors that belong together in ways that no text tells do where all their sizes are the same."""
        atoms = sorted(without_strides(inputs_of(values)), key=lambda atom: atom.id)
        if len(atoms) > _MOST_UNKNOWNS and not are_equal:
            return Unknown(f"it depends on {len(atoms)} sizes")
        reason, held = "no sizes that were tried show anything", False
        for numbers in islice(tried(atoms, values, put, are_equal=are_equal), _MOST_REPLAYED):
            sizes = {atom.name: size for atom, size in numbers.items()}
            sizes.update(self._strides(numbers, put))
            launched = self._host.replay(self._site, sizes)
            if not isinstance(launched, LaunchSite):
                reason = launched.reason
                continue
            try:
                beyond = self._in_launch(launched, put, self._number(self._memory.elements, sizes, put))
            except NotKnown as error:
                return Unknown(f"it depends on {error}")
            if beyond is not None:
                return Refuted(sizes, beyond)
            held = True
        return Unknown(reason, held)

    def _conditions(self) -> set[Atom]:
        """The inputs that decide whether there is a launch."""
        tests = (condition.test.polynomial for condition in self._site.conditions)
        return without_strides(inputs_of(one for one in tests if one is not None))

    # -- numbers -------------------------------------------------------------------------------------------------

    def _parameters(self) -> set[str]:
        """The parameters of the kernel whose numbers decide where it is, and whether it is done."""
        atoms = {atom for value in self._values for atom in value.atoms_inside()}
        bounds = [one for loop in self._loops for one in (loop.start, loop.stop, loop.step) if one is not None]
        atoms |= {atom for value in bounds for atom in value.atoms_inside()}
        lanes = [size for atom in atoms for size in (atom.size, atom.start) if size is not None]
        atoms |= {atom for value in lanes for atom in value.atoms_inside()}
        return {atom.name for atom in atoms if atom.kind in _GIVEN}

    def _passed(self, name: str) -> Affine | None:
        return self._site.argument(name)

    def _strides(self, numbers: Mapping[Atom, int], put: Put) -> Iterator[tuple[str, int]]:
        """Of all tensors, those of rows one behind the other."""
        known = {atom: Affine.constant(number) for atom, number in numbers.items()}
        for name in self._site.arguments:
            memory = memory_for(self._site, name)
            sizes = [self._put_in(one, known, put) for one in (() if memory is None else memory.sizes)]
            for index in range(len(sizes)):
                behind = sizes[index + 1 :]
                if memory is not None and None not in behind:
                    yield f"{memory.name}.stride({index})", prod(size for size in behind if size is not None)

    def _put_in(self, value: Affine, known: Put, put: Put) -> int | None:
        return self._site.arithmetic.put_in(value, {**put, **known}.get).value

    def _number(self, value: Affine | None, sizes: Mapping[str, int], put: Put) -> int:
        """Raises NotKnown."""
        if value is None:
            raise NotKnown("a number that the launch passes")
        known = {atom: Affine.constant(sizes[atom.name]) for atom in inputs_of([value]) if atom.name in sizes}
        number = self._put_in(value, known, put)
        if number is None:
            raise NotKnown(f"`{value}`")
        return number

    def _in_launch(self, launched: LaunchSite, put: Put, total: int) -> Beyond | None:
        """A lane that is past the end there. Raises NotKnown."""
        given = {name: self._number(launched.argument(name), {}, put) for name in self._parameters()}
        grid = [self._number(launched.axis(axis), {}, put) for axis in range(3)]
        if total <= 0:
            return None
        start = Point(given, (0, 0, 0), (grid[0], grid[1], grid[2]), {}, {})
        tile = {name: number for name, number in sorted(given.items()) if self._is_extent(name)}
        for point in islice(self._points(start, total), _MOST_POINTS):
            element = point.number(self._index)
            if not 0 <= element < total and point.holds(self._mask) and all(point.takes(g) for g in self._access.path):
                return Beyond(self._access, launched, point.program, point.lanes, element, total, tile)
        return None

    def _is_extent(self, name: str) -> bool:
        """Whether tiles are as wide as this constant."""
        lanes = [atom.size for value in self._values for atom in value.atoms_inside() if atom.size is not None]
        return any(
            atom.kind is AtomKind.CONSTEXPR and atom.name == name for size in lanes for atom in size.atoms_inside()
        )

    # -- points --------------------------------------------------------------------------------------------------

    def _points(self, start: Point, total: int) -> Iterator[Point]:
        """The last programs first, and in them the lanes at edges. Raises NotKnown."""
        used = {atom.grid_axis for value in self._values for atom in value.atoms_inside() if atom.kind is AtomKind.PID}
        axes = [tuple(ends(size))[::-1] if axis in used else (0,) for axis, size in enumerate(start.grid)]
        if any(not axis for axis in axes):
            return
        for program in product(*axes):
            at = Point(start.given, (program[0], program[1], program[2]), start.grid, {}, {})
            for point in _rounds(at, self._loops):
                yield from self._lanes(point, total)

    def _lanes(self, point: Point, total: int) -> Iterator[Point]:
        sizes = extents_in(self._values, point)
        first = Point(point.given, point.program, point.grid, dict.fromkeys(sizes, 0), point.rounds)
        places = [self._edges(first, axis, size, total) for axis, size in sizes.items()]
        for lanes in product(*places):
            yield Point(point.given, point.program, point.grid, dict(zip(sizes, lanes, strict=True)), point.rounds)

    def _edges(self, first: Point, axis: int, size: int, total: int) -> list[int]:
        """The first and last lanes along an axis, and those where a condition or the end of the tensor is met."""
        found = [size - 1, 0, 1]
        gaps = [(one.gap, -1 if one.strict else 0) for one in self._mask if isinstance(one, Less)]
        for value, off in (*gaps, (Affine.constant(total) - self._index, 0)):
            if axis not in value.axes():
                continue
            here, there = first.number(value), first.at(axis, 1).number(value) if size > 1 else 0
            if size > 1 and here != there:
                edge = (here + off) // (here - there)
                found += [edge - 1, edge, edge + 1]
        return sorted({place for place in found if 0 <= place < size})


def _rounds(point: Point, loops: Sequence[Atom]) -> Iterator[Point]:
    if not loops:
        yield point
        return
    loop, *others = loops
    for number in list(ends(rounds_of(loop, point)))[::-1]:
        at = Point(point.given, point.program, point.grid, {}, {**point.rounds, loop: number})
        yield from _rounds(at, others)


def _is_dimension(atom: Atom) -> bool:
    return ".shape[" in atom.name


def _is_of_tensor(atom: Atom) -> bool:
    """Whether it is a size of a tensor, of which a number that comes in beside it may be computed."""
    return _is_dimension(atom) or atom.name.endswith(".numel()")
