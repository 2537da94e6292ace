"""Can an axis of a grid have more programs than a GPU takes?

Any size may be large. What is reported are sizes that are: the rows of a matrix, all elements, and products of sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.domains.affine import LOADED, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access
from tritonaudit.host.arithmetic import LEAST, MOST, QUOTIENT, ROUNDED_UP, TooLarge
from tritonaudit.host.host import LaunchSite

MOST_PROGRAMS = 65_535  # on the second and the third axis, on NVIDIA GPUs

_ROWS, _POSITIONS, _BATCH, _HEADS, _FEATURES, _ELEMENTS = 1 << 20, 1 << 17, 1 << 12, 1 << 7, 1 << 15, 1 << 31
_LEAST_BLOCK = 64  # what a block of unknown size is taken for


@dataclass(frozen=True)
class Extent:
    """At most `most` things are met. Rows and elements are `counted`: they grow with the data, and alone are enough.

    `divisor` is the number that divides them. It is not `sure` where a dimension may be one of rows or one of few.
    """

    most: int
    counted: bool = False
    divisor: int = 1
    sure: bool = True


@dataclass(frozen=True, eq=False)
class LongAxis:
    """Axis `axis` of a launch's grid may have more programs than a GPU takes.

    `beside_tiles`: another axis splits a dimension that is neither first nor last, so that sequences are long, and few
    of them fit into memory.
    """

    site: LaunchSite
    axis: int
    extent: Extent
    beside_tiles: bool

    @property
    def node(self) -> ast.expr:
        return self.site.written[self.axis] if self.axis < len(self.site.written) else self.site.call


def long_axes(sites: Sequence[LaunchSite], accesses: Sequence[Access]) -> Iterator[LongAxis]:
    """The first launch for each axis but the first that nothing keeps below the limit."""
    for axis in (1, 2):
        for site in sites:
            try:
                found = _long_axis(site, axis, accesses)
            except TooLarge:
                continue
            if found is not None:
                yield found
                break


def _long_axis(site: LaunchSite, axis: int, accesses: Sequence[Access]) -> LongAxis | None:
    programs = site.axis(axis)
    if programs is None:
        return None
    facts = site.facts()
    programs = facts.normal(programs)
    most = facts.bounds(programs)[1]
    extent = _Sizes(site).of(programs) if most is None or most > MOST_PROGRAMS else None
    if extent is None or extent.most <= MOST_PROGRAMS:
        return None
    if extent.counted and any(_reads_table(access, axis) for access in accesses):
        return None
    others = [site.axis(other) for other in range(3) if other != axis]
    return LongAxis(site, axis, extent, any(one is not None and _Sizes(site).tiles(one) for one in others))


def _reads_table(access: Access, axis: int) -> bool:
    """Whether its address is read from a row of a table that the program has of its own.

    Then the program is for a sequence of a batch, which has pages of a cache.
    """
    address = access.pointer.affine
    loaded = [] if address is None else [atom for atom in address.atoms_inside() if atom.name == LOADED]
    return any(_is_of_row(part, axis) for atom in loaded for part in atom.inner)


def _is_of_row(address: Affine, axis: int) -> bool:
    programs = [atom for atom in address.atoms() if atom.kind is AtomKind.PID and atom.grid_axis == axis]
    return any(address.factor_of(atom).value is None for atom in programs)


class _Sizes:
    """How large the sizes of a launch get, by where they stand in a shape."""

    def __init__(self, site: LaunchSite) -> None:
        self._site = site
        self._facts = site.facts()

    def of(self, value: Affine) -> Extent | None:
        """The largest of the terms; None where one is not known."""
        terms = [(self._of_product(product), factor) for product, factor in value.terms.items()]
        added = [extent for extent, factor in terms if factor > 0]
        known = [extent for extent in added if extent is not None]
        return max(known, key=lambda extent: extent.most) if known and len(known) == len(added) else None

    def _of_product(self, product: tuple[Atom, ...]) -> Extent | None:
        found = Extent(1)
        for atom in product:
            one = self._of_atom(atom)
            if one is None:
                return None
            counted = (found.counted or one.counted) and _HEADS not in (found.most, one.most)
            found = Extent(found.most * one.most, counted, one.divisor, found.sure and one.sure)
        return found

    def _of_atom(self, atom: Atom) -> Extent | None:
        if atom.name in (QUOTIENT, ROUNDED_UP) and len(atom.inner) == 2:
            return self._of_quotient(*atom.inner)
        if atom.name in (LEAST, MOST):
            parts = [self.of(part) for part in atom.inner]
            known = [part for part in parts if part is not None]
            choose = min if atom.name == LEAST else max
            return choose(known, key=lambda part: part.most) if len(known) == len(parts) else None
        return None if atom.inner else self._of_input(atom)

    def _of_quotient(self, above: Affine, below: Affine) -> Extent | None:
        if self._counts_elements(above) and below.value is None:
            return Extent(_BATCH) if sum(map(len, below.terms)) > 1 else Extent(_ROWS, True)
        whole = self.of(above)
        if whole is None:
            return None
        block = below.value or _LEAST_BLOCK
        return Extent(whole.most // max(block, 1), whole.counted, block if below.value else 1, whole.sure)

    def _counts_elements(self, value: Affine) -> bool:
        """`x.numel()`, or that by some of the dimensions."""
        atom = value.atom
        while atom is not None and atom.name == QUOTIENT:
            atom = atom.inner[0].atom
        return atom is not None and self._site.key(atom)[-3:-2] == ("numel",)

    def _of_input(self, atom: Atom) -> Extent | None:
        """The least of what is said of the same number: a batch stays one where a matrix has a row for each of it."""
        known = [extent for one in self._facts.same_as(atom) if (extent := self._of_size(one)) is not None]
        return min(known, key=lambda extent: extent.most, default=None)

    def _of_size(self, atom: Atom) -> Extent | None:
        place = self._place(atom)
        if place is None:
            key = self._site.key(atom)
            if key[-1:] == ("len",):
                return Extent(_BATCH)
            is_given = key[:1] == ("input",) and key[-3:-2] == ("numel",)
            return Extent(_ELEMENTS, True) if is_given and self._rank(key[:-3]) != 1 else None
        index, rank = place
        if rank == 1:
            return None
        if index == rank - 1:
            return Extent(_FEATURES)
        if index == 0:
            return Extent(_ROWS, True, sure=rank == 2) if rank < 4 else Extent(_BATCH)
        return Extent(_HEADS)

    def tiles(self, value: Affine) -> bool:
        """Whether it counts tiles of a dimension that is neither first nor last."""
        divided = [atom.inner[0].atom for atom in value.atoms_inside() if atom.name == ROUNDED_UP]
        places = [self._place(atom) for atom in divided if atom is not None]
        return any(place is not None and 0 < place[0] < place[1] - 1 for place in places)

    def _rank(self, of: tuple[object, ...]) -> int | None:
        return self._site.ranks.get(of)

    def _place(self, atom: Atom) -> tuple[int, int] | None:
        """Which dimension it is the size of, and how many the tensor has."""
        *of, what, index = (None, *self._site.key(atom)) if len(self._site.key(atom)) > 1 else (None, None, None)
        rank = self._rank(tuple(of[1:]))
        return (index % rank, rank) if what == "shape" and isinstance(index, int) and rank is not None else None
