"""Whether what is seen at other sizes than given is seen as given, too: a kernel may hang on the sizes it was given.

Imports neither torch nor triton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.stability import NUMERIC

Work = Callable[[Case], CaseOutcome]

ELSEWHERE = "at other sizes than given"
"""What the text ends in of what is seen at such sizes only, as far as is known."""
OTHERWISE = "with tensors that lie otherwise than given"
"""The same of what is seen of these only, and harms no result."""


@dataclass
class GivenToo:
    """What is seen of a subject as it is given its inputs: what is certain of it at other sizes must be seen there.

    A trial with sizes that the reference refuses says nothing of the subject.
    """

    subject: Subject
    _seen: dict[tuple[Work, str], frozenset[Symptom]] = field(default_factory=dict)

    def settled(self, outcome: CaseOutcome, work: Work, *, may_ask: bool) -> CaseOutcome:
        """The outcome of such work, which is done as given as well if it has to be and `may_ask` says so."""
        given, case = self.subject.given, outcome.case
        if given is None:
            return outcome
        if not given.is_elsewhere(case):
            self._seen[work, case.label] = frozenset(_certain(outcome))
            return outcome
        if outcome.is_refused:
            return replace(outcome, sightings=())
        if given.sizes and given.changed(case.sizes):
            seen = self._as_given(case, work, may_ask) if any(_certain(outcome)) else frozenset()
            outcome = replace(outcome, sightings=tuple(_told(one, seen, ELSEWHERE) for one in outcome.sightings))
        else:
            self._seen[work, case.label] = frozenset(_certain(outcome))
        return _of_layout(outcome)

    def _as_given(self, case: Case, work: Work, may_ask: bool) -> frozenset[Symptom]:
        as_given = replace(case, sizes={})
        known = self._seen.get((work, as_given.label))
        if known is None and may_ask:
            try:
                known = frozenset(_certain(work(as_given)))
            except OutOfTime:
                known = frozenset()
            self._seen[work, as_given.label] = known
        return known or frozenset()


def _certain(outcome: CaseOutcome) -> Iterator[Symptom]:
    return (one.symptom for one in outcome.sightings if one.is_certain)


def _of_layout(outcome: CaseOutcome) -> CaseOutcome:
    """With tensors that lie otherwise than given, what is seen is a defect where results are wrong."""
    if outcome.case.layout is Layout.CONTIGUOUS or not NUMERIC.isdisjoint(_certain(outcome)):
        return outcome
    return replace(outcome, sightings=tuple(_told(one, frozenset(), OTHERWISE) for one in outcome.sightings))


def _told(sighting: Sighting, as_given: frozenset[Symptom], where: str) -> Sighting:
    alike = NUMERIC if sighting.symptom in NUMERIC else frozenset((sighting.symptom,))
    if as_given & alike or not sighting.is_certain:
        return sighting
    return replace(sighting, text=f"{sighting.text}, {where}", is_certain=False)
