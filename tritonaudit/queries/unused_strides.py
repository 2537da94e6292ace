"""Strides that a launch passes, and by which the kernel moves nothing: it takes the tensor to lie otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import Affine
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.run import CONTIGUOUS
from tritonaudit.host.values import Key
from tritonaudit.queries.memory import key_for
from tritonaudit.queries.updates import parameter_of


@dataclass(frozen=True, eq=False)
class UnusedStride:
    """The launch passes the stride of its tensor along `dimension` as `parameter`, which no address depends on.

    It `is_last` where it may be the tensor's last dimension, along which elements mostly lie side by side.
    """

    access: Access
    parameter: str
    dimension: int
    is_last: bool
    site: LaunchSite


def unused_strides(flow: KernelFlow) -> Iterator[UnusedStride]:
    """The first launch for each parameter of the kernel; none where an address is not known."""
    values = [value for access in flow.accesses for value in _address(access)]
    if any(value is None for value in values):
        return
    used = {atom.name for value in values if value is not None for atom in value.atoms_inside()}
    seen: set[str] = set()
    for site in flow.launches.sites:
        strides = list(_strides(site)) if site.is_whole else []
        for name, tensor, dimension in strides:
            owner = next((access for access in flow.accesses if _is_passed(site, access, tensor)), None)
            if name not in used | seen and owner is not None:
                seen.add(name)
                rank = site.ranks.get(tensor)
                last = max(place for _, one, place in strides if one == tensor) if rank is None else rank - 1
                yield UnusedStride(owner, name, dimension, dimension in (-1, last), site)


def _address(access: Access) -> Iterator[Affine | None]:
    """All that decides where an access goes, its conditions included."""
    block = access.pointer.block
    yield from (access.pointer.affine,) if block is None else (block.base, *block.strides, *block.offsets, *block.shape)
    yield from (one.gap for one in access.comparisons)
    yield from (gap for guard in access.path for gap in guard.affines)


def _strides(site: LaunchSite) -> Iterator[tuple[str, Key, int]]:
    """The parameters for which the launch passes the stride of a tensor: of which one, and along which dimension.

    Strides that the host code asks to be a number are left out.
    """
    dense = {one.test.key for one in site.conditions if one.test.relation == CONTIGUOUS and one.holds}
    for name in site.arguments:
        passed = site.argument(name)
        key = () if passed is None or passed.atom is None else site.key(passed.atom)
        if passed is None or key[-2:-1] != ("stride",) or key[:-2] in dense:
            continue
        if isinstance(key[-1], int) and site.facts().normal(passed).value is None:
            yield name, key[:-2], key[-1]


def _is_passed(site: LaunchSite, access: Access, tensor: Key) -> bool:
    """Whether the access is to that tensor."""
    return key_for(site, parameter_of(access) or "") == tensor
