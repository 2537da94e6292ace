"""How long a case may take, and what is known of one that takes longer."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import CaseOutcome, Sighting

MOST_SECONDS = 20.0
LEAST_SECONDS = 5.0
"""However little of a subject's time is left: what takes less is slow, and no more."""
GRACE_SECONDS = 5.0
"""From the time when a case is to end by itself to its process being killed."""
_SLOWER = 10
"""So many times longer than a case of as many elements: then it hangs."""


def case_seconds(left: float) -> float:
    """What a case may take when so much of its subject's time is left."""
    return min(MOST_SECONDS, max(LEAST_SECONDS, left))


def late(seconds: float, sighting: Sighting, case: Case, others: Iterable[CaseOutcome], *, waits: bool) -> CaseOutcome:
    """A case that did not end within the seconds.

    It hangs, as the `sighting` says, where one of as many elements was far quicker; it may where it only waits; else
    nothing is known of it.
    """
    quick = [
        outcome
        for outcome in others
        if outcome.checked and _elements(outcome.case) >= _elements(case) and outcome.seconds * _SLOWER < seconds
    ]
    if not quick and not waits:
        return unknown(case, sighting.text)
    than = f", and {quick[-1].case.label} took {quick[-1].seconds:.1f} s" if quick else ", and waits all the time"
    hang = Sighting(Symptom.HANG, sighting.kernel, sighting.place, f"{sighting.text}{than}", is_certain=bool(quick))
    return CaseOutcome(case, frozenset((Symptom.HANG,)), (hang,), seconds=seconds)


def unknown(case: Case, reason: str) -> CaseOutcome:
    """A case of which nothing is known."""
    return CaseOutcome(case, frozenset(), unchecked=tuple((symptom, reason) for symptom in Symptom))


def _elements(case: Case) -> int:
    """A measure of how much work it is."""
    return prod(max(size, 1) for size in case.sizes.values())
