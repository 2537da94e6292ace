"""Accesses none of whose lanes lies beside another in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import GIVEN, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.queries.launched import is_row_stride

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
    if any(atom.axes for atom in address.atoms() if atom.kind is not AtomKind.LANE):
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
    """Whether every launch passes for the parameter the stride of a dimension that is not a tensor's last."""
    sites = flow.launches.sites if atom.kind in GIVEN else ()
    return bool(sites) and all(is_row_stride(site, site.argument(atom.name)) for site in sites)


def _beside(flow: KernelFlow, access: Access) -> Access | None:
    """An access of the same kind that is one element further on."""
    for other in flow.accesses:
        if other.kind == access.kind and other.pointer.affine is not None and access.pointer.affine is not None:
            distance = (other.pointer.affine - access.pointer.affine).value
            if distance is not None and abs(distance) == 1:
                return other
    return None
