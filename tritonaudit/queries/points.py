"""What a kernel's integers are at one point: in one program, one lane and one round, with the numbers of a launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import Guard
from tritonaudit.domains.value import Less, Mask


class NotKnown(Exception):
    """The launch does not decide a number, such as one that is loaded; the text says which."""


@dataclass(frozen=True)
class Point:
    """A program by its ids, a lane by its place along each axis, and the number of the round of each loop.

    `given` are the numbers of the launch by parameter; `rounds` are by the loop's atom.
    """

    given: Mapping[str, int]
    program: tuple[int, int, int]
    grid: tuple[int, int, int]
    lanes: Mapping[int, int]
    rounds: Mapping[Atom, int]

    def at(self, axis: int, lane: int) -> Point:
        """The same point in another lane along an axis."""
        return replace(self, lanes={**self.lanes, axis: lane})

    def number(self, value: Affine) -> int:
        """The integer that the polynomial is here. Raises NotKnown."""
        return sum(factor * math.prod(map(self._atom, product)) for product, factor in value.terms.items())

    def numbers(self, value: Affine, axis: int, count: int) -> list[int]:
        """The integers that the polynomial is in the first lanes along an axis, so many. Raises NotKnown."""
        totals = [0] * count
        for product, factor in value.terms.items():
            varying = [atom for atom in product if _varies(atom, axis)]
            fixed = factor * math.prod(self._atom(atom) for atom in product if atom not in varying)
            if not varying:
                totals = [total + fixed for total in totals]
                continue
            columns = [self._lanes_of(atom, axis, count) for atom in varying]
            products = columns[0] if len(columns) == 1 else map(math.prod, zip(*columns, strict=True))
            totals = [total + fixed * number for total, number in zip(totals, products, strict=True)]
        return totals

    def _lanes_of(self, atom: Atom, axis: int, count: int) -> list[int]:
        if atom.kind is AtomKind.OPAQUE and (function := _FUNCTIONS.get(atom.name)) is not None:
            return self._each(atom, function, [self.numbers(one, axis, count) for one in atom.inner])
        first = self.at(axis, 0)._atom(atom)
        return list(range(first, first + count))

    def _each(self, atom: Atom, function: Callable[..., int], columns: Sequence[Sequence[int]]) -> list[int]:
        try:
            return list(map(function, *columns))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise NotKnown(f"`{atom.spelled}`") from error

    def holds(self, mask: Mask) -> bool:
        """Whether a conjunction of conditions is true here. Raises NotKnown."""
        for condition in mask:
            if not isinstance(condition, Less):
                raise NotKnown("a condition that is not a comparison of indices")
            gap = self.number(condition.gap)
            if gap < 0 or (condition.strict and gap == 0):
                return False
        return True

    def takes(self, guard: Guard) -> bool:
        """Whether an `if` is taken here, the way that the guard says. Raises NotKnown."""
        test = guard.test
        if test is not None and test.mask:
            return self.holds(test.mask) is guard.taken
        if test is not None and isinstance(test.const, (bool, int)):
            return bool(test.const) is guard.taken
        if test is not None and test.affine is not None:
            return bool(self.number(test.affine)) is guard.taken
        raise NotKnown(f"`{guard.condition}`")

    def _atom(self, atom: Atom) -> int:
        if atom.kind in (AtomKind.PARAM, AtomKind.CONSTEXPR) and atom.name in self.given:
            return self.given[atom.name]
        if atom.kind is AtomKind.PID and atom.grid_axis in (0, 1, 2):
            return self.program[atom.grid_axis]
        if atom.kind is AtomKind.LANE and atom.start is not None and atom.axis in self.lanes:
            return self.number(atom.start) + self.lanes[atom.axis]
        if atom.kind is AtomKind.LOOP and atom in self.rounds:
            return self.rounds[atom]
        if atom.kind is AtomKind.OPAQUE:
            return self._computed(atom)
        raise NotKnown(f"`{atom.spelled}`")

    def _computed(self, atom: Atom) -> int:
        if atom.name.startswith("tl.num_programs(") and atom.name[-2].isdigit():
            return self.grid[int(atom.name[-2])]
        function = _FUNCTIONS.get(atom.name)
        if function is None or not atom.inner:
            raise NotKnown(f"`{atom.spelled}`")
        (number,) = self._each(atom, function, [[self.number(one)] for one in atom.inner])
        return number


def _varies(atom: Atom, axis: int) -> bool:
    """Whether it depends on the lane along the axis."""
    return any(one.kind is AtomKind.LANE and one.axis == axis for one in Affine.of(atom).atoms_inside())


def _quotient(a: int, b: int) -> int:
    """Triton divides towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_FUNCTIONS: dict[str, Callable[..., int]] = {
    "FloorDivide": _quotient,
    "Modulo": lambda a, b: a - b * _quotient(a, b),
    "LeftShift": lambda a, b: a << b if 0 <= b < 63 else 1 // 0,
    "RightShift": lambda a, b: a >> b,
    "BitAnd": lambda a, b: a & b,
    "BitOr": lambda a, b: a | b,
    "BitXor": lambda a, b: a ^ b,
    "minimum": min,
    "maximum": max,
    "cdiv": lambda a, b: -(-a // b),
    "next_power_of_2": lambda n: 1 << max(n - 1, 0).bit_length(),
}


def rounds_of(loop: Atom, point: Point) -> int:
    """How many rounds a loop makes there. Raises NotKnown."""
    if loop.start is None or loop.stop is None or loop.step is None:
        raise NotKnown(f"how far `{loop.name}` goes")
    start, stop, step = (point.number(one) for one in (loop.start, loop.stop, loop.step))
    if step == 0:
        raise NotKnown(f"how far `{loop.name}` goes")
    return max(0, -((start - stop) // step))


def loops_in(values: Iterable[Affine]) -> list[Atom]:
    """The loops whose rounds the values depend on, outer ones before those that depend on them."""
    found = {atom for value in values for atom in value.atoms_inside() if atom.kind is AtomKind.LOOP}
    while True:
        bounds = [one for loop in found for one in (loop.start, loop.stop, loop.step) if one is not None]
        more = {atom for value in bounds for atom in value.atoms_inside() if atom.kind is AtomKind.LOOP} - found
        if not more:
            return sorted(found, key=lambda atom: atom.id)
        found |= more


def extents_in(values: Iterable[Affine], point: Point) -> dict[int, int]:
    """How many lanes there are along each axis that the values vary over. Raises NotKnown."""
    sizes: dict[int, int] = {}
    for atom in {atom for value in values for atom in value.atoms_inside() if atom.kind is AtomKind.LANE}:
        if atom.size is None:
            raise NotKnown(f"`{atom.spelled}`")
        sizes[atom.axis] = max(sizes.get(atom.axis, 1), point.number(atom.size))
    return sizes


def ends(count: int) -> Iterator[int]:
    """The first, the second and the last of so many numbers, each once."""
    yield from dict.fromkeys(n for n in (0, 1, count - 2, count - 1) if 0 <= n < count)
