"""Two indices of an access that are added to one another, as if one dimension were both of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from tritonaudit.domains.affine import ONE, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access
from tritonaudit.queries.unbounded import bounded_index


@dataclass(frozen=True, eq=False)
class Summed:
    """Each step of `one` moves the address as far as one of `other`, which has several: `factor` elements."""

    one: Atom
    other: Atom
    factor: Affine


def summed(access: Access, are_same: Callable[[Affine, Affine], bool] = Affine.__eq__) -> Iterator[Summed]:
    """The lanes of two axes, or a program's number and lanes, that move an address by the same.

    A program's number at which a loop starts is not counted: it is a part of where the rounds are. Neither are lanes of
    which the mask bounds the sum, as that of a window that slides: it is one index. What is the same may be a launch's
    matter, too.
    """
    address = access.pointer.affine
    if address is None:
        return
    starts = {atom for one in address.atoms() if one.start is not None for atom in one.start.atoms_inside()}
    moving = {atom for atom in address.atoms() if atom.kind is AtomKind.LANE or atom.grid_axis is not None} - starts
    factors = {atom: address.factor_of(atom) for atom in sorted(moving, key=lambda atom: atom.id)}
    for one, other in combinations(factors, 2):
        if one.kind is not AtomKind.LANE:
            one, other = other, one
        if one.kind is not AtomKind.LANE or not factors[one].terms or not are_same(factors[one], factors[other]):
            continue
        if other.kind is AtomKind.PID and factors[one] != ONE:
            continue  # a part that one program at most may have is added to rows
        if other.kind is AtomKind.LANE and _is_one_index(access, one, other):
            continue
        if _has_several(one) and (other.kind is not AtomKind.LANE or (other.axis != one.axis and _has_several(other))):
            yield Summed(other, one, factors[one])


def _is_one_index(access: Access, one: Atom, other: Atom) -> bool:
    """Whether what the mask compares with a bound moves by the same with both."""
    indices = (bounded_index(condition) for condition in access.comparisons)
    return any(index.factor_of(one).terms and index.factor_of(one) == index.factor_of(other) for index in indices)


def _has_several(lane: Atom) -> bool:
    return lane.size is not None and lane.size != ONE
