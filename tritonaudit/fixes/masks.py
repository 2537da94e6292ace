"""An access with the mask that another access of the same lanes has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from tritonaudit.domains.affine import Affine, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.domains.value import Less
from tritonaudit.finding import Edit, Fix
from tritonaudit.fixes.scope import same_value
from tritonaudit.queries.unbounded import unbounded_lane
from tritonaudit.source.edits import keyword_argument, with_argument

_MASKED_BY_NAME = ("load", "store", "add", "max", "min", "and", "or", "xor", "xchg")
_MOVING = (AtomKind.PID, AtomKind.LOOP)


def masked_as_beside(flow: KernelFlow, access: Access, *, safe: bool) -> Fix | None:
    """The mask of an access that covers the same lanes, written in names that have the same values here."""
    call = access.node
    if not isinstance(call, cst.Call) or access.pointer.block is not None or not _takes_mask(flow, call):
        return None
    for other, mask in _candidates(flow, access):
        text = flow.tree.code(mask.value)
        if _is_same_here(flow, text, other, access):
            fill = _other_of(flow, other) if access.kind == "load" and keyword_argument(call, "other") is None else None
            edits = _edits(flow, call, text, fill)
            return Fix(f"give it `mask={text}`, as an access beside it has", edits, safe) if edits else None
    return None


def _takes_mask(flow: KernelFlow, call: cst.Call) -> bool:
    name = flow.tree.code(call.func).rpartition(".")[2]
    return name.removeprefix("atomic_") in _MASKED_BY_NAME


def _candidates(flow: KernelFlow, access: Access) -> Iterator[tuple[Access, cst.Arg]]:
    """Accesses of the same shape whose masks bound this one and speak of nothing else, with their masks."""
    for other in flow.accesses:
        if other is access or not other.mask or not isinstance(other.node, cst.Call):
            continue
        mask = keyword_argument(other.node, "mask")
        if mask is None or other.pointer.shape != access.pointer.shape or exclusive(other.path, access.path):
            continue
        if _bounds_it(flow, access, other):
            yield other, mask


def _bounds_it(flow: KernelFlow, access: Access, other: Access) -> bool:
    address = access.pointer.affine
    assert other.mask is not None
    conditions = other.mask.mask
    if address is None or not conditions or not (_conditions(access) <= conditions):
        return False
    if not all(isinstance(one, Less) and _speaks_of(one.gap, address) for one in conditions):
        return False
    return unbounded_lane(flow, replace(access, mask=other.mask)) is None


def _conditions(access: Access) -> frozenset[object]:
    return frozenset() if access.mask is None or access.mask.mask is None else frozenset(access.mask.mask)


def _speaks_of(gap: Affine, address: Affine) -> bool:
    """Whether the condition compares lanes and tiles that the address is made of."""
    known = set(address.atoms())
    return all(atom in known for atom in gap.lanes()) and all(
        atom in known for atom in gap.atoms() if atom.kind in _MOVING
    )


def _is_same_here(flow: KernelFlow, text: str, other: Access, access: Access) -> bool:
    try:
        expression = ast.parse(text, mode="eval").body
    except SyntaxError:  # it goes over several lines
        return False
    there, here = flow.tree.span(other.node), flow.tree.span(access.node)
    return "\n" not in text and same_value(flow.function.node, expression, there, here)


def _other_of(flow: KernelFlow, access: Access) -> str | None:
    """What the lanes that the mask leaves out read in the other load, where that is a number."""
    assert isinstance(access.node, cst.Call)
    other = keyword_argument(access.node, "other") if access.kind == "load" else None
    return (
        flow.tree.code(other.value) if other is not None and isinstance(other.value, (cst.Integer, cst.Float)) else None
    )


def _edits(flow: KernelFlow, call: cst.Call, mask: str, fill: str | None) -> tuple[Edit, ...]:
    given = keyword_argument(call, "mask")
    if given is not None:
        return (Edit(flow.tree.span(given.value), mask),)
    return with_argument(flow.tree, call, f"mask={mask}" + (f", other={fill}" if fill is not None else ""))
