"""Loads that a `tl.where` is meant to guard, though it comes after them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import GIVEN, Affine, Atom
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less, Value
from tritonaudit.queries.unbounded import bounded_index, flattened, index_of, is_guarded, spelled

if TYPE_CHECKING:
    from libcst import CSTNode


@dataclass(frozen=True, eq=False)
class LateGuard:
    """A load that is not masked by `index < bound`, which `where` compares afterwards."""

    access: Access
    index: str
    bound: Affine
    where: CSTNode


def late_guards(flow: KernelFlow) -> Iterator[LateGuard]:
    """The loads of the first arm of a `tl.where` whose condition bounds the index that nothing else bounds."""
    loads = {id(access.node): access for access in flow.accesses if access.kind == "load"}
    for step in flow.steps:
        if step.operation != "where" or len(step.operands) != 3 or step.node is None:
            continue
        condition, chosen, _ = step.operands
        made = chosen.made
        access = loads.pop(id(made.node), None) if made is not None and made.operation == "load" else None
        if access is not None and (found := _late(flow, access, condition, step.node)) is not None:
            yield found


def _late(flow: KernelFlow, access: Access, condition: Value, where: CSTNode) -> LateGuard | None:
    address = access.pointer.affine
    if address is None or not access.pointer.shape or is_guarded(flow, access):
        return None
    if access.mask is not None and access.mask.mask is None:
        return None
    masked = frozenset().union(*(c.axes() for c in access.mask.mask or ())) if access.mask is not None else frozenset()
    for lane in sorted(address.lanes(), key=lambda atom: atom.axis):
        index = index_of(address, lane)
        if index is None or lane.axis in masked:
            continue
        for compared in condition.mask or ():
            if isinstance(compared, Less) and flattened(bounded_index(compared)) == flattened(index):
                bound = Affine({product: factor for product, factor in compared.gap.terms.items() if factor > 0})
                if _is_size(bound, lane):
                    return LateGuard(access, spelled(flow, index), bound, where)
    return None


def _is_size(bound: Affine, lane: Atom) -> bool:
    """A parameter, and not the extent of the tile itself."""
    atoms = list(bound.atoms())
    return len(bound.terms) == 1 and bool(atoms) and bound != lane.size and all(a.kind in GIVEN for a in atoms)
