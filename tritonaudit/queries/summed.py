"""Two indices of an access that are added to one another, as if one dimension were both of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from tritonaudit.domains.affine import ONE, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access
from tritonaudit.queries.unbounded import bounded_index

DIVIDED = ("FloorDivide", "Modulo")


@dataclass(frozen=True, eq=False)
class Summed:
    """Each step of `one` moves the address as far as one of `other`, which has several: `factor` elements."""

    one: Atom
    other: Atom
    factor: Affine


def summed(access: Access, are_same: Callable[[Affine, Affine], bool] = Affine.__eq__) -> Iterator[Summed]:
    """The lanes of two axes, a program's number and lanes, or numbers of programs, that move an address by the same.

    A program's number at which a loop starts is not counted: it is a part of where the rounds are. Neither are lanes of
    which the mask bounds the sum, as that of a window that slides: it is one index. What is the same may be a launch's
    matter, too.
    """
    address = access.pointer.affine
    if address is None:
        return
    starts = {atom for one in address.atoms() if one.start is not None for atom in one.start.atoms_inside()}
    moving = {atom for atom in address.atoms() if atom.kind is AtomKind.LANE or _is_of_program(atom)} - starts
    factors = {atom: address.factor_of(atom) for atom in sorted(moving, key=lambda atom: atom.id)}
    for one, other in combinations(factors, 2):
        if one.kind is not AtomKind.LANE:
            one, other = other, one
        if not factors[one].terms or not are_same(factors[one], factors[other]):
            continue
        is_met = _do_lanes_meet(access, one, other) if one.kind is AtomKind.LANE else _do_programs_meet(one, other)
        if is_met and (other.grid_axis is None or one.kind is not AtomKind.LANE or factors[one] == ONE):
            yield Summed(other, one, factors[one])


def _is_of_program(atom: Atom) -> bool:
    """Whether it is a program's number, or a quotient or remainder of what follows from such numbers and lanes."""
    inside = Affine.of(atom).atoms_inside()
    is_known = all(one.kind is not AtomKind.OPAQUE or one.inner for one in inside)
    return atom.grid_axis is not None or (atom.name in DIVIDED and len(atom.inner) == 2 and is_known)


def _do_lanes_meet(access: Access, lane: Atom, other: Atom) -> bool:
    """Whether there are several lanes, and programs, or lanes along another axis, that are no part of one index."""
    if other.kind is not AtomKind.LANE:
        return _has_several(lane) and other.grid_axis is not None
    is_apart = other.axis != lane.axis and not _is_one_index(access, lane, other)
    return is_apart and _has_several(lane) and _has_several(other)


def _do_programs_meet(one: Atom, other: Atom) -> bool:
    """Whether they are numbers along two axes, or the quotient and the remainder of one division."""
    if one.grid_axis is not None and other.grid_axis is not None:
        return True
    return one.name != other.name and one.inner == other.inner


def _is_one_index(access: Access, one: Atom, other: Atom) -> bool:
    """Whether what the mask compares with a bound moves by the same with both."""
    indices = (bounded_index(condition) for condition in access.comparisons)
    return any(index.factor_of(one).terms and index.factor_of(one) == index.factor_of(other) for index in indices)


def _has_several(lane: Atom) -> bool:
    return lane.size is not None and lane.size != ONE
