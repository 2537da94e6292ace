"""Whether timing a further size could change what rules find. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.measure import sentences
from tritonaudit.measure.facts import Role, Row
from tritonaudit.subject.model import Case

CHANGES_NOTHING = "it could change no finding"
_FAR = 2.0
"""Times as fast as PyTorch: the masks and the narrow accesses of an odd size, which both have, take no more from it."""
_CALM = 0.5
"""The part of the spread from which on times are unstable, below which those of further sizes are not either."""


def could_change(rows: Sequence[Row], case: Case) -> bool:
    """Whether a case of the correctness suite could yet change what is found of a subject that was timed so far.

    It has no name: torch.compile is not timed there, nor does the profiler look, so TAP502 and TAP508 cannot change.
    TAP501 (slower than PyTorch) can where no size shows it, and not all are far from that. TAP505 (unstable) can where
    no size shows it, and one comes near it. The others are of work that takes a GPU `sentences.LEAST_MILLISECONDS`:
    TAP503 (less than half of the roof), TAP504 (superlinear), TAP506 (faster than possible) and TAP507, which is of
    the largest. They cannot change where a size that is as large in every dimension takes the subject less than that.

    Where no time can be relied on, any could.
    """
    timed = [row for row in rows if sentences.can_be_relied_on(row)]
    return not timed or _is_much_work(timed, case) or _may_be_slower(timed) or _may_be_unstable(timed)


def _is_much_work(timed: Sequence[Row], case: Case) -> bool:
    larger = [row for row in timed if row.case.dtype == case.dtype and _is_within(case, row.case)]
    return min(map(_milliseconds, larger), default=sentences.LEAST_MILLISECONDS) >= sentences.LEAST_MILLISECONDS


def _is_within(case: Case, other: Case) -> bool:
    return all(size <= other.sizes.get(name, 0) for name, size in case.sizes.items())


def _milliseconds(row: Row) -> float:
    device = sentences.subject_of(row).device
    assert device is not None
    return device.median


def _may_be_slower(timed: Sequence[Row]) -> bool:
    ratios = [other.speedup for row in timed if (other := row.of(Role.PYTORCH)) is not None and other.speedup]
    if any(sentences.is_slower(row, Role.PYTORCH) for row in timed):
        return False
    return any(ratio.low < _FAR for ratio in ratios)


def _may_be_unstable(timed: Sequence[Row]) -> bool:
    spreads = list(_spreads(timed))
    return not any(is_unstable for is_unstable, _ in spreads) and any(is_near for _, is_near in spreads)


def _spreads(timed: Sequence[Row]) -> Iterator[tuple[bool, bool]]:
    """Of each row, whether it is unstable, and whether it is near that."""
    for row in timed:
        device = sentences.subject_of(row).device
        assert device is not None
        yield device.is_unstable, device.is_spread_over(_CALM)
