"""Which elements of its tensors a launch touches, at sizes at which it has several tiles, with rows apart and not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from tritonaudit.domains.affine import ZERO, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, Guard, Path
from tritonaudit.domains.value import Less
from tritonaudit.queries.points import NotKnown, Point, ends, extents_in, loops_in, rounds_of

_MOST_POINTS, _MOST_LANES, _MOST_ALONG, _MOST_TOUCHED = 600, 4096, 1 << 16, 300_000
_Parts = Mapping[frozenset[int], Affine]
_Chosen = Callable[[Sequence[int]], Sequence[int]]


@dataclass(frozen=True)
class Layout:
    """The sizes and strides of a tensor, in numbers."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def places(self) -> dict[int, tuple[int, ...]]:
        """Of each element its indices, by where it lies."""
        found: dict[int, tuple[int, ...]] = {0: ()}
        for size, stride in zip(self.sizes, self.strides, strict=True):
            found = {at + i * stride: (*index, i) for at, index in found.items() for i in range(size)}
        return found

    def has(self, place: int) -> bool:
        """Whether an element lies there. Raises NotKnown where elements along one dimension go in between others."""
        dims = sorted(zip(self.strides, self.sizes, strict=True))
        reach = 0
        for stride, size in dims:
            if size > 1 and stride <= reach:
                raise NotKnown("which element lies where")
            reach += (size - 1) * stride
        if not 0 <= place <= reach:
            return False
        for stride, size in reversed(dims):
            if size > 1:
                place -= min(place // stride, size - 1) * stride
        return place == 0


@dataclass(frozen=True)
class Numbers:
    """A launch: what it passes by parameter, and its grid."""

    given: Mapping[str, int]
    grid: tuple[int, int, int]


def lane_of_block(axis: int, width: Affine) -> Affine:
    """The lane along an axis of a block pointer's block, which no `tl.arange` of the text makes."""
    return Affine.of(Atom(-1 - axis, AtomKind.LANE, "lane", -1 - axis, ZERO, width, axes=frozenset((-1 - axis,))))


class Footprint:
    """Where an index goes in a launch. Raises NotKnown where it, or how often a loop goes round, is not.

    Lanes count where each of the `limits` holds, and programs where the `path` is taken; what is not understood of that
    is taken, unless it is to be `exact`.
    """

    def __init__(self, index: Affine, limits: Sequence[Less], path: Path, *, exact: bool) -> None:
        self._exact, self._path, self._gaps = exact, path, limits
        self._values = [index, *(one.gap for one in self._gaps)]
        self._loops = loops_in(self._values)
        self._index, self._limits = _by_axes(index), [(_by_axes(one.gap), one.strict) for one in self._gaps]
        self._is_joint = any(len(axes) > 1 for parts in (self._index, *(p for p, _ in self._limits)) for axes in parts)
        self._is_joint |= any(sum(map(bool, parts)) > 1 for parts, _ in self._limits)
        self._numbers = _numbers(self.needs, path)

    @staticmethod
    def of_access(access: Access, index: Affine, *, exact: bool) -> Footprint:
        """Where an access goes: its index, which is its address without the pointer, under its mask."""
        mask = None if access.mask is None else access.mask.mask
        is_read = access.mask is None or (mask is not None and all(isinstance(one, Less) for one in mask))
        if exact and not is_read:
            raise NotKnown("a part of its mask")
        limits = [one for one in access.comparisons if exact or _is_of_launch(one.gap)]
        return Footprint(index, limits, access.path, exact=exact)

    @property
    def needs(self) -> set[Atom]:
        """All that it follows from: also how far its loops go, and how wide its tiles are."""
        atoms = {atom for value in self._values for atom in value.atoms_inside()}
        pending = list(atoms)
        while pending:
            atom = pending.pop()
            parts = (atom.start, atom.size, atom.stop, atom.step)
            more = {inner for part in parts if part is not None for inner in part.atoms_inside()} - atoms
            atoms |= more
            pending += more
        return atoms

    def programs(self, launch: Numbers) -> Iterator[tuple[tuple[int, int, int], set[int]]]:
        """Of each program, or of each round of a loop in it, where it goes."""
        counts = [count if axis in self._numbers else min(count, 1) for axis, count in enumerate(launch.grid)]
        if prod(counts) > _MOST_POINTS:
            raise NotKnown("a launch of so many tiles")
        points = touched = 0
        columns, rows, layers = map(range, counts)
        for program in ((x, y, z) for x in columns for y in rows for z in layers):
            at = Point(launch.given, program, launch.grid, {}, {})
            for point in _rounds(at, self._loops):
                points += 1
                places = self._at(point)
                touched += len(places)
                if points > _MOST_POINTS or touched > _MOST_TOUCHED:
                    raise NotKnown("a launch of so many tiles")
                yield point.program, places

    def at_ends(self, launch: Numbers) -> Iterator[tuple[tuple[int, int, int], set[int]]]:
        """The same of some lanes of the first and the last programs along each axis, in their first and last rounds."""
        for point in self._points_at_ends(launch):
            yield point.program, set(self._lanes_at(point, _some))

    def repeats(self, launch: Numbers) -> Iterator[tuple[tuple[int, int, int], int]]:
        """Places to which two lanes of a program go that differ in what the index depends on, of those at ends."""
        for point in self._points_at_ends(launch):
            seen: set[int] = set()
            for place in self._lanes_at(point, _some):
                if place in seen:
                    yield point.program, place
                    break
                seen.add(place)

    def _points_at_ends(self, launch: Numbers) -> Iterator[Point]:
        chosen = [
            list(ends(count if axis in self._numbers else min(count, 1))) for axis, count in enumerate(launch.grid)
        ]
        for x, y, z in product(*chosen):
            yield from _rounds(Point(launch.given, (x, y, z), launch.grid, {}, {}), self._loops, ends)

    def _at(self, point: Point) -> set[int]:
        return set(self._lanes_at(point, list))

    def _lanes_at(self, point: Point, chosen: _Chosen) -> list[int]:
        """Where the chosen lanes along each axis go that the limits leave."""
        if not all(self._is_taken(guard, point) for guard in self._path):
            return []
        sizes = extents_in(self._values, point)
        if any(size > _MOST_ALONG for size in sizes.values()):
            raise NotKnown("a tile of so many lanes")
        first = Point(point.given, point.program, point.grid, dict.fromkeys(sizes, 0), point.rounds)
        return self._one_by_one(first, sizes, chosen) if self._is_joint else self._by_axis(first, sizes, chosen)

    def _is_taken(self, guard: Guard, point: Point) -> bool:
        try:
            return point.takes(guard)
        except NotKnown:
            if self._exact:
                raise
            return True

    def _by_axis(self, first: Point, sizes: Mapping[int, int], chosen: _Chosen) -> list[int]:
        """The lanes along each axis, added up."""
        places = [first.number(self._index.get(frozenset(), Affine.constant(0)))]
        lanes = {axis: chosen(range(size)) for axis, size in sizes.items()}
        for parts, is_strict in self._limits:
            fixed = first.number(parts.get(frozenset(), Affine.constant(0)))
            varying = [(next(iter(axes)), part) for axes, part in parts.items() if axes]
            for axis, part in varying:
                values = _along(part, axis, first, lanes[axis])
                lanes[axis] = [lane for lane in lanes[axis] if fixed + values[lane] >= is_strict]
            if not varying and fixed < is_strict:
                return []
        for axis, left in lanes.items():
            along = self._index.get(frozenset((axis,)))
            if not left:
                return []
            if along is not None:
                offsets = _along(along, axis, first, left)
                places = [place + offsets[lane] for place in places for lane in left]
        return places

    def _one_by_one(self, first: Point, sizes: Mapping[int, int], chosen: _Chosen) -> list[int]:
        lanes_of = [chosen(range(size)) for size in sizes.values()]
        if prod(map(len, lanes_of)) > _MOST_LANES:
            raise NotKnown("a tile of so many lanes")
        places: dict[tuple[int, ...], int] = {}
        counted = [axis for axis, own in enumerate(sizes) if any(own in axes for axes in self._index)]
        for lanes in product(*lanes_of):
            point = Point(first.given, first.program, first.grid, dict(zip(sizes, lanes, strict=True)), first.rounds)
            if all(point.number(one.gap) >= one.strict for one in self._gaps):
                places[tuple(lanes[axis] for axis in counted)] = point.number(self._values[0])
        return list(places.values())


def _some(lanes: Sequence[int]) -> Sequence[int]:
    """The first two, the last two, and those at the powers of 2."""
    places = [0, *(1 << bit for bit in range(len(lanes).bit_length())), len(lanes) - 2, len(lanes) - 1]
    return [lanes[place] for place in dict.fromkeys(places) if 0 <= place < len(lanes)]


def _numbers(atoms: set[Atom], path: Path) -> set[int | None]:
    """The axes of the grid along which a program's number matters."""
    tests = [guard.test for guard in path if guard.test is not None]
    values = [gap for guard in path for gap in guard.affines]
    values += [test.affine for test in tests if test.affine is not None]
    values += [one.gap for test in tests for one in test.mask or () if isinstance(one, Less)]
    asked = atoms.union(*(value.atoms_inside() for value in values))
    return {atom.grid_axis for atom in asked if atom.kind is AtomKind.PID}


def _by_axes(value: Affine) -> _Parts:
    """The terms of a polynomial by the axes of lanes that they vary along."""
    found: dict[frozenset[int], dict[tuple[Atom, ...], int]] = {}
    for term, factor in value.terms.items():
        axes = frozenset(atom.axis for atom in Affine({term: 1}).atoms_inside() if atom.kind is AtomKind.LANE)
        found.setdefault(axes, {})[term] = factor
    return {axes: Affine(terms) for axes, terms in found.items()}


def _along(part: Affine, axis: int, first: Point, lanes: Sequence[int]) -> Mapping[int, int]:
    """What the part is in those lanes of the axis."""
    inside = [atom for atom in part.atoms_inside() if atom.kind is AtomKind.LANE]
    is_linear = all(sum(atom in inside for atom in term) == 1 for term in part.terms) and all(
        not atom.inner or not any(lane in inner.atoms_inside() for inner in atom.inner for lane in inside)
        for atom in part.atoms()
    )
    if is_linear:
        start = first.number(part)
        step = first.at(axis, 1).number(part) - start if len(lanes) > 1 else 0
        return {lane: start + step * lane for lane in lanes}
    if lanes and len(lanes) == lanes[-1] + 1:
        return dict(enumerate(first.numbers(part, axis, len(lanes))))
    return {lane: first.at(axis, lane).number(part) for lane in lanes}


def _rounds(point: Point, loops: Sequence[Atom], chosen: Callable[[int], Iterable[int]] = range) -> Iterator[Point]:
    if not loops:
        yield point
        return
    loop, *others = loops
    count = rounds_of(loop, point)
    if count > _MOST_POINTS and chosen is range:
        raise NotKnown("a loop of so many rounds")
    for number in chosen(count):
        further = Point(point.given, point.program, point.grid, {}, {**point.rounds, loop: number})
        yield from _rounds(further, others, chosen)


def _is_of_launch(value: Affine) -> bool:
    """Whether it is computed from what a launch gives, program ids, lanes and loops."""
    return all(atom.kind is not AtomKind.OPAQUE or atom.inner for atom in value.atoms_inside())
