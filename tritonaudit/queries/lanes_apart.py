"""Accesses none of whose lanes lies beside another in memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import GIVEN, Affine, Atom, Kind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.kernel.extents import rank_of
from tritonaudit.kernel.launch import Launch

_FEW = 4


@dataclass(frozen=True, eq=False)
class LanesApart:
    """The lanes of `access` are `stride` elements apart, along each of its axes or more; `beside` fills the gaps."""

    access: Access
    stride: Affine
    beside: Access | None


def lanes_apart(flow: KernelFlow) -> Iterator[LanesApart]:
    """The accesses whose lanes are certainly more than one element apart, along every axis."""
    if flow.is_helper:
        return
    seen: set[Affine] = set()
    for access in flow.accesses:
        address = access.pointer.affine
        if address is None or access.pointer.origin is None or address in seen:
            continue
        seen.add(address)
        strides = _strides(address)
        if strides and all(_is_more_than_one(flow, stride) for stride in strides):
            nearest = min(strides, key=lambda stride: abs(stride.value) if stride.value is not None else 1 << 62)
            yield LanesApart(access, nearest, _beside(flow, access))


def _strides(address: Affine) -> list[Affine]:
    """What each lane is multiplied by; none where the address depends on one in another way."""
    lanes = address.lanes()
    if any(atom.axes for atom in address.atoms() if atom.kind is not Kind.LANE):
        return []
    if all(lane.size is not None and lane.size.value is not None and lane.size.value <= _FEW for lane in lanes):
        return []
    if any(product.count(lane) > 1 for product in address.terms for lane in lanes):
        return []
    return [address.factor_of(lane) for lane in sorted(lanes, key=lambda lane: lane.id)]


def _is_more_than_one(flow: KernelFlow, stride: Affine) -> bool:
    if stride.value is not None:
        return abs(stride.value) > 1
    if len(stride.terms) != 1:
        return False
    ((product, factor),) = stride.terms.items()
    return abs(factor) > 1 or any(_is_large(flow, atom) for atom in product)


def _is_large(flow: KernelFlow, atom: Atom) -> bool:
    """Whether every launch passes for the parameter a stride that is not a tensor's last, or the length of a row."""
    launches = flow.launches.launches
    return (
        atom.kind in GIVEN
        and bool(launches)
        and all(
            (given := launch.arguments.get(atom.name)) is not None and _is_of_rows(launch, given) for launch in launches
        )
    )


def _is_of_rows(launch: Launch, node: ast.expr) -> bool:
    """`x.stride(0)` of a tensor of two dimensions or more."""
    found = launch.definition(node)
    called = isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr == "stride"
    if not (called and isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and len(found.args) == 1):
        return False
    try:
        dimension = ast.literal_eval(found.args[0])
    except ValueError:
        return False
    if not isinstance(dimension, int):
        return False
    return dimension < -1 or (dimension >= 0 and (rank_of(launch, found.func.value) or 0) > dimension + 1)


def _beside(flow: KernelFlow, access: Access) -> Access | None:
    """An access of the same kind that is one element further on."""
    for other in flow.accesses:
        if other.kind == access.kind and other.pointer.affine is not None and access.pointer.affine is not None:
            distance = (other.pointer.affine - access.pointer.affine).value
            if distance is not None and abs(distance) == 1:
                return other
    return None
