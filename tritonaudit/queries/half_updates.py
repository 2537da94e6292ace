"""Pairs of elements that are turned into each other in place, of which one is not written back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import AtomKind
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.domains.value import Value

_SUMS = ("Add", "Subtract")
_DEPTH = 8


@dataclass(frozen=True, eq=False)
class HalfUpdate:
    """`store` overwrites one of two elements by what both make together; the other one, read by `load`, stays."""

    store: Access
    load: Access


def half_updates(flow: KernelFlow) -> Iterator[HalfUpdate]:
    """Stores of `x1 * a - x2 * b` over x1, where no store goes to x2, or holds what the two make otherwise."""
    loads = {id(access.node): access for access in flow.accesses if access.kind == "load"}
    stores = [access for access in flow.accesses if access.kind != "load"]
    for store in stores if len(loads) > 1 else ():
        for own, partner in _pairs(store, loads):
            if own.pointer.affine == store.pointer.affine and _is_partner(partner, store, stores):
                both = {id(own.node), id(partner.node)}
                if not any(other is not store and both <= _loaded(other.stored) for other in stores):
                    yield HalfUpdate(store, partner)
                    break


def _pairs(store: Access, loads: dict[int, Access]) -> Iterator[tuple[Access, Access]]:
    """Two loads that come into the stored sum or difference in one of its products each."""
    sides = _sides(store)
    if sides is None:
        return
    left, right = map(_loaded, sides)
    for first in (left - right) & loads.keys():
        for second in (right - left) & loads.keys():
            yield loads[first], loads[second]
            yield loads[second], loads[first]


def _sides(store: Access) -> tuple[Value, Value] | None:
    """The products whose sum or difference is stored."""
    made = None if store.stored is None or store.pointer.affine is None else store.stored.made
    if made is None or made.operation not in _SUMS or len(made.operands) != 2:
        return None
    left, right = made.operands
    if not all(side.made is not None and side.made.operation == "Multiply" for side in (left, right)):
        return None
    return left, right


def _loaded(value: Value | None, depth: int = 0) -> frozenset[int]:
    """The calls that load what the value is computed from."""
    made = None if value is None else value.made
    if made is None or depth > _DEPTH:
        return frozenset()
    if made.operation == "load":
        return frozenset((id(made.node),))
    return frozenset().union(*(_loaded(operand, depth + 1) for operand in made.operands))


def _is_partner(load: Access, store: Access, stores: list[Access]) -> bool:
    """Whether the load is of the program's own elements beside those stored, which nothing writes.

    Elements a step of the grid or of a loop away are those of another program or round.
    """
    address, stored = load.pointer.affine, store.pointer.affine
    if address is None or stored is None or load.pointer.origin is not store.pointer.origin:
        return False
    apart = address - stored
    if apart.lanes() or exclusive(load.path, store.path) or any(other.pointer.affine == address for other in stores):
        return False
    moving = {atom for atom in stored.atoms() if atom.kind in (AtomKind.PID, AtomKind.LOOP)}
    return not any(apart in (stored.factor_of(atom), -stored.factor_of(atom)) for atom in moving)
