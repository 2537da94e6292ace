"""Which elements of its tensors a launch touches, at sizes at which it has several tiles, with rows apart and not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, Guard
from tritonaudit.domains.value import Less
from tritonaudit.queries.points import NotKnown, Point, extents_in, loops_in, rounds_of

_MOST_POINTS, _MOST_LANES, _MOST_ALONG, _MOST_TOUCHED = 600, 4096, 1 << 16, 300_000
_Parts = Mapping[frozenset[int], Affine]


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


@dataclass(frozen=True)
class Numbers:
    """A launch: what it passes by parameter, and its grid."""

    given: Mapping[str, int]
    grid: tuple[int, int, int]


class Footprint:
    """Where one access goes in a launch. Raises NotKnown where an address, or how often a loop goes round, is not.

    Lanes of which a condition is not understood are taken for accessed, unless it is to be `exact`.
    """

    def __init__(self, access: Access, index: Affine, *, exact: bool) -> None:
        mask = None if access.mask is None else access.mask.mask
        is_read = access.mask is None or (mask is not None and all(isinstance(one, Less) for one in mask))
        if exact and not is_read:
            raise NotKnown("a part of its mask")
        self._exact, self._path = exact, access.path
        self._gaps = list(access.comparisons)
        if not exact:
            self._gaps = [one for one in self._gaps if _is_of_launch(one.gap)]
        self._values = [index, *(one.gap for one in self._gaps)]
        self._loops = loops_in(self._values)
        self._index, self._limits = _by_axes(index), [(_by_axes(one.gap), one.strict) for one in self._gaps]
        self._is_joint = any(len(axes) > 1 for parts in (self._index, *(p for p, _ in self._limits)) for axes in parts)
        self._is_joint |= any(sum(map(bool, parts)) > 1 for parts, _ in self._limits)

    def programs(self, launch: Numbers) -> Iterator[tuple[tuple[int, int, int], set[int]]]:
        """Of each program, or of each round of a loop in it, where it goes."""
        if prod(launch.grid) > _MOST_POINTS:
            raise NotKnown("a launch of so many tiles")
        points = touched = 0
        columns, rows, layers = map(range, launch.grid)
        for program in ((x, y, z) for x in columns for y in rows for z in layers):
            at = Point(launch.given, program, launch.grid, {}, {})
            for point in _rounds(at, self._loops):
                points += 1
                places = self._at(point)
                touched += len(places)
                if points > _MOST_POINTS or touched > _MOST_TOUCHED:
                    raise NotKnown("a launch of so many tiles")
                yield point.program, places

    def _at(self, point: Point) -> set[int]:
        if not all(self._is_taken(guard, point) for guard in self._path):
            return set()
        sizes = extents_in(self._values, point)
        if any(size > _MOST_ALONG for size in sizes.values()):
            raise NotKnown("a tile of so many lanes")
        first = Point(point.given, point.program, point.grid, dict.fromkeys(sizes, 0), point.rounds)
        return self._one_by_one(first, sizes) if self._is_joint else self._by_axis(first, sizes)

    def _is_taken(self, guard: Guard, point: Point) -> bool:
        try:
            return point.takes(guard)
        except NotKnown:
            if self._exact:
                raise
            return True

    def _by_axis(self, first: Point, sizes: Mapping[int, int]) -> set[int]:
        """The lanes along each axis, added up."""
        places = {first.number(self._index.get(frozenset(), Affine.constant(0)))}
        lanes = {axis: list(range(size)) for axis, size in sizes.items()}
        for parts, is_strict in self._limits:
            fixed = first.number(parts.get(frozenset(), Affine.constant(0)))
            varying = [(next(iter(axes)), part) for axes, part in parts.items() if axes]
            for axis, part in varying:
                values = _along(part, axis, first, sizes)
                lanes[axis] = [lane for lane in lanes[axis] if fixed + values[lane] >= is_strict]
            if not varying and fixed < is_strict:
                return set()
        for axis, chosen in lanes.items():
            along = self._index.get(frozenset((axis,)))
            if not chosen:
                return set()
            if along is not None:
                offsets = _along(along, axis, first, sizes)
                places = {place + offsets[lane] for place in places for lane in chosen}
        return places

    def _one_by_one(self, first: Point, sizes: Mapping[int, int]) -> set[int]:
        count = 1
        for size in sizes.values():
            count *= size
        if count > _MOST_LANES:
            raise NotKnown("a tile of so many lanes")
        places = set()
        for lanes in product(*(range(size) for size in sizes.values())):
            point = Point(first.given, first.program, first.grid, dict(zip(sizes, lanes, strict=True)), first.rounds)
            if all(point.number(one.gap) >= one.strict for one in self._gaps):
                places.add(point.number(self._values[0]))
        return places


def _by_axes(value: Affine) -> _Parts:
    """The terms of a polynomial by the axes of lanes that they vary along."""
    found: dict[frozenset[int], dict[tuple[Atom, ...], int]] = {}
    for term, factor in value.terms.items():
        axes = frozenset(atom.axis for atom in Affine({term: 1}).atoms_inside() if atom.kind is AtomKind.LANE)
        found.setdefault(axes, {})[term] = factor
    return {axes: Affine(terms) for axes, terms in found.items()}


def _along(part: Affine, axis: int, first: Point, sizes: Mapping[int, int]) -> Sequence[int]:
    """What the part is in each lane of the axis."""
    start, count = first.number(part), sizes[axis]
    lanes = [atom for atom in part.atoms_inside() if atom.kind is AtomKind.LANE]
    is_linear = all(sum(atom in lanes for atom in term) == 1 for term in part.terms) and all(
        not atom.inner or not any(lane in inner.atoms_inside() for inner in atom.inner for lane in lanes)
        for atom in part.atoms()
    )
    if not is_linear:
        return first.numbers(part, axis, count)
    step = first.at(axis, 1).number(part) - start if count > 1 else 0
    return range(start, start + step * count, step) if step else [start] * count


def _rounds(point: Point, loops: Sequence[Atom]) -> Iterator[Point]:
    if not loops:
        yield point
        return
    loop, *others = loops
    count = rounds_of(loop, point)
    if count > _MOST_POINTS:
        raise NotKnown("a loop of so many rounds")
    for number in range(count):
        yield from _rounds(Point(point.given, point.program, point.grid, {}, {**point.rounds, loop: number}), others)


def _is_of_launch(value: Affine) -> bool:
    """Whether it is computed from what a launch gives, program ids, lanes and loops."""
    return all(atom.kind is not AtomKind.OPAQUE or atom.inner for atom in value.atoms_inside())
