"""Whether what is seen at other sizes than given is seen as given, too: a kernel may hang on the sizes it was given.

Imports neither torch nor triton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.stability import NUMERIC

Work = Callable[[Case], CaseOutcome]

ELSEWHERE = "at other sizes than given"
"""What the text ends in of what is seen at such sizes only, as far as is known."""


@dataclass
class GivenToo:
    """What is seen of a subject as it is given its inputs: what is certain of it at other sizes must be seen there.

    A trial with sizes that the reference refuses says nothing of the subject.
    """

    subject: Subject
    _seen: dict[tuple[Work, str], frozenset[Symptom]] = field(default_factory=dict)

    def settled(self, outcome: CaseOutcome, work: Work, *, may_ask: bool) -> CaseOutcome:
        """The outcome of such work, which is done as given as well if it has to be and `may_ask` says so."""
        given = self.subject.given
        if given is None or not given.sizes:
            return outcome
        if not given.changed(outcome.case.sizes):
            self._seen[work, outcome.case.label] = frozenset(_certain(outcome))
            return outcome
        if outcome.is_refused:
            return replace(outcome, sightings=())
        seen = self._as_given(outcome.case, work, may_ask) if any(_certain(outcome)) else frozenset()
        return replace(outcome, sightings=tuple(_told(one, seen) for one in outcome.sightings))

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


def _told(sighting: Sighting, as_given: frozenset[Symptom]) -> Sighting:
    alike = NUMERIC if sighting.symptom in NUMERIC else frozenset((sighting.symptom,))
    if as_given & alike:
        return sighting
    return replace(sighting, text=f"{sighting.text}, {ELSEWHERE}", is_certain=False)
