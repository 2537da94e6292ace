"""One finding for one thing to do: what a rule says several times of a kernel, or of a file, in the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tritonaudit.finding import Audit, Extent, Finding, Fix, Related
from tritonaudit.fixes.applying import united

_MOST_PLACES = 8  # of the same kernel; of another kernel the first stands for all


def reported_once(audit: Audit) -> Audit:
    """The audit with one finding for each cause: at its first place, or the surest, with the others beside it."""
    causes: dict[object, list[Finding]] = {}
    for finding in audit.findings:
        causes.setdefault(_cause(finding), []).append(finding)
    if len(causes) == len(audit.findings):
        return audit
    return replace(audit, findings=tuple(sorted(map(_reported, causes.values()), key=lambda finding: finding.sort_key)))


def _cause(finding: Finding) -> object:
    """What findings with one cause have in common."""
    in_kernel = finding.once_in is Extent.KERNEL
    if finding.once_in is None or (in_kernel and finding.kernel is None):
        return id(finding)
    kernel = finding.kernel if in_kernel else None
    return finding.path, finding.code, finding.severity, finding.message, finding.in_baseline, kernel


def _reported(same: list[Finding]) -> Finding:
    if len(same) == 1:
        return same[0]
    first = min(same, key=lambda finding: finding.confidence.rank)
    others = [finding for finding in same if finding is not first]
    return replace(
        first,
        message=f"{first.message}; the same {_where(first, others)}",
        related=(*first.related, *_places(first, others)),
        fix=_fix(same),
    )


def _where(first: Finding, others: Sequence[Finding]) -> str:
    kernels = {other.kernel for other in others} - {first.kernel, None}
    if not kernels:
        return f"at {_count(len(others), 'place')}"
    return f"in {_count(len(kernels), 'kernel')}" if first.kernel else f"in {len(kernels)} kernels"


def _count(number: int, noun: str) -> str:
    return f"{number} other {noun}{'' if number == 1 else 's'}"


def _places(first: Finding, others: Sequence[Finding]) -> Iterator[Related]:
    """The other places in the same kernel, and the first in each other."""
    number = Counter(other.kernel for other in others)
    seen: Counter[str | None] = Counter()
    for other in others:
        kernel = other.kernel
        seen[kernel] += 1
        if kernel in (first.kernel, None):
            if seen[kernel] <= _MOST_PLACES:
                yield Related(other.path, other.span, "here too")
        elif seen[kernel] == 1:
            times = f", {number[kernel]} times" if number[kernel] > 1 else ""
            yield Related(other.path, other.span, f"the same in `{kernel}`{times}")


def _fix(same: Sequence[Finding]) -> Fix | None:
    """One fix for all places that have one, the safe ones where only some are."""
    fixes = [finding.fix for finding in same if finding.fix is not None]
    safe = [fix for fix in fixes if fix.safe]
    return united(safe or fixes) if fixes else None
