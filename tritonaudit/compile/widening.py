"""Whether the kernel or the data make an access narrow, and what a wider one would be worth."""

from __future__ import annotations

from tritonaudit.compile.facts import AccessKind, Cause, CompiledKernel, LineAccess, Narrow, Variant
from tritonaudit.subject.model import Layout

_READS = (AccessKind.LOAD, AccessKind.ASYNC_COPY, AccessKind.BULK_COPY)
_SHARE = 10
"""Savings of less than one in so many of what a kernel's memory accesses cost cannot matter."""
_FULL_LINE = 4
"""Bytes per lane with which the 32 lanes of a warp fill a line of 128 bytes."""
_LANES = 32
_LAYOUTS = frozenset(layout.value for layout in Layout)
"""How a case's label says that its tensors are not contiguous; of those that are it says nothing."""


def is_wide_elsewhere(kernel: CompiledKernel, variant: Variant, narrow: Narrow) -> bool:
    """Whether the same access is as wide as it could be in another case: then this case's data are to blame.

    Transposed tensors swap which lanes lie apart, so they are neither blamed for that nor an excuse. Where lanes lie
    apart in contiguous tensors, there is none: that a smaller one is one column wide does not help the others.
    """
    if narrow.cause is Cause.LANE_STRIDE and _is_transposed(variant):
        return True
    if narrow.cause is Cause.LANE_STRIDE and not variant.assumed and any(map(_is_contiguous, variant.cases)):
        return False
    others = [other for other in kernel.compiled if other.target == variant.target]
    if narrow.cause is Cause.LANE_STRIDE:
        comparable = (other for other in others if other.explained and not _is_transposed(other))
        return any(_has(other, narrow) and not _is_strided(other, narrow) for other in comparable)
    same = (access for other in others for access in other.accesses if _is_same(access, narrow.access))
    return any(access.narrowest >= narrow.could_be or access.kind is AccessKind.BULK_COPY for access in same)


def saves_much(variant: Variant, narrow: Narrow) -> bool:
    """Whether the access costs a fair share of all that the variant's accesses cost, and would not need to.

    The cost of a narrow access is its instructions. That of lanes that lie apart is the sectors of 32 bytes that they
    touch: one for each lane, where lanes that lie together touch one for each byte that a lane moves.
    """
    now = sum(number for _, number in narrow.access.widths)
    if narrow.cause is not Cause.LANE_STRIDE:
        total = sum(number for access in variant.accesses for _, number in access.widths)
        return (now - now * narrow.bytes / narrow.could_be) * _SHARE >= total
    others = (access for access in variant.accesses if not _is_same(access, narrow.access))
    rest = sum(width * number for access in others for width, number in access.widths)
    return now * (_LANES - narrow.bytes) * _SHARE >= now * _LANES + rest


def wastes_lines(narrow: Narrow) -> bool:
    """Whether a warp's request brings less than the lines of memory that it touches hold."""
    return narrow.cause is Cause.LANE_STRIDE or narrow.bytes < _FULL_LINE


def _is_contiguous(case: str) -> bool:
    return _LAYOUTS.isdisjoint(case.split())


def _is_transposed(variant: Variant) -> bool:
    return bool(variant.cases) and all(Layout.TRANSPOSED.value in case.split() for case in variant.cases)


def _has(variant: Variant, narrow: Narrow) -> bool:
    return any(_is_same(access, narrow.access) for access in variant.accesses)


def _is_strided(variant: Variant, narrow: Narrow) -> bool:
    """Whether the lanes of the same access lie apart there, too."""
    return any(other.cause is Cause.LANE_STRIDE and _is_same(other.access, narrow.access) for other in variant.narrow)


def _is_same(one: LineAccess, other: LineAccess) -> bool:
    """Whether both are of one place and direction: a load that is wide enough becomes a copy."""
    kinds = [AccessKind.LOAD if access.kind in _READS else access.kind for access in (one, other)]
    return kinds[0] is kinds[1] and (one.path, one.span) == (other.path, other.span)
