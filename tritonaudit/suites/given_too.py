"""Whether what is seen at other sizes than given is seen as given, too: a kernel may hang on the sizes it was given.

Imports neither torch nor triton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.subject.given import Given
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.journal import Trial
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.right_sizes import RightSizes
from tritonaudit.suites.stability import NUMERIC

Work = Callable[[Case], CaseOutcome]

ELSEWHERE = "at other sizes than given"
"""What the text ends in of what is seen at such sizes only, as far as is known."""
BETWEEN = "at sizes in the midst of others at which it is right"
"""The same of what no limit of the sizes that the wrapper takes explains: it is certain."""
OTHERWISE = "with tensors laid out differently from those given"
"""The same of what is seen of these only, and harms no result."""


@dataclass
class GivenToo:
    """What is seen of a subject as it is given its inputs: what is certain of it at other sizes must be seen there.

    Until somebody has looked for it there it is unsettled. A trial with sizes that the reference refuses says nothing
    of the subject. Results that are wrong in the midst of sizes at which they are right are wrong for certain, unless
    integers that were distinct no longer are.
    """

    subject: Subject
    _given: dict[tuple[Work, str], CaseOutcome] = field(default_factory=dict)
    _right: dict[str, RightSizes] = field(default_factory=dict)
    """By dtype."""

    def settled(self, outcome: CaseOutcome, work: Work, *, may_ask: bool) -> CaseOutcome:
        """The outcome of such work, which is done as given as well if it has to be and `may_ask` says so."""
        given, case = self.subject.given, outcome.case
        if given is None:
            return outcome
        self._learn(outcome, given)
        if not given.is_elsewhere(case):
            self._given[work, case.label] = outcome
            return outcome
        if outcome.is_refused:
            return replace(outcome, sightings=())
        if given.sizes and given.changed(case.sizes):
            as_given = self._as_given(case, work, may_ask) if any(certain(outcome)) else None
            seen = frozenset[Symptom]() if as_given is None else frozenset(certain(as_given))
            outcome = self._between(outcome, given)
            reported = tuple(_reported(one, seen, ELSEWHERE) for one in outcome.sightings)
            outcome = replace(outcome, sightings=reported, unsettled=frozenset(_unsettled(outcome, as_given)))
        else:
            self._given[work, case.label] = outcome
        return _of_layout(outcome)

    def _learn(self, outcome: CaseOutcome, given: Given) -> None:
        """Whether it is right at these sizes, and not by chance."""
        is_right = Symptom.WRONG_RESULT in outcome.checked and not any(certain(outcome))
        if is_right and outcome.case.is_plain and not outcome.are_alike:
            self._right.setdefault(outcome.case.dtype, RightSizes()).add({**given.sizes, **outcome.case.sizes})

    def _between(self, outcome: CaseOutcome, given: Given) -> CaseOutcome:
        """With what is wrong in the midst of sizes at which it is right."""
        right = self._right.get(outcome.case.dtype)
        case = outcome.case
        if right is None or not case.is_plain or given.repeats(case.sizes):
            return outcome
        if not right.surround({**given.sizes, **case.sizes}):
            return outcome
        reported = (
            replace(one, text=f"{one.text}, {BETWEEN}") if _is_numeric(one) else one for one in outcome.sightings
        )
        return replace(outcome, sightings=tuple(reported))

    def _as_given(self, case: Case, work: Work, may_ask: bool) -> CaseOutcome | None:
        as_given = replace(case, sizes={})
        if (work, as_given.label) not in self._given and may_ask:
            try:
                outcome = work(as_given)
            except OutOfTime:
                outcome = CaseOutcome(as_given, frozenset())
            self._given[work, as_given.label] = outcome
        return self._given.get((work, as_given.label))


@dataclass(frozen=True)
class Unsettled:
    """What has to be tried as given, and the symptoms to look for there."""

    trial: Trial
    case: Case
    symptoms: frozenset[Symptom]


def unsettled(outcomes: Mapping[Trial, CaseOutcome]) -> tuple[Unsettled, ...]:
    """What has to be tried to settle all that these came to; what is certain of another case needs no more."""
    known = {symptom for outcome in outcomes.values() for seen in certain(outcome) for symptom in alike(seen)}
    found: dict[Trial, Unsettled] = {}
    for trial, outcome in outcomes.items():
        if symptoms := outcome.unsettled - known:
            case = replace(outcome.case, sizes={})
            one = Unsettled(Trial(trial.check, case.label), case, symptoms)
            found[one.trial] = replace(one, symptoms=found.get(one.trial, one).symptoms | symptoms)
    return tuple(found.values())


def certain(outcome: CaseOutcome) -> Iterator[Symptom]:
    """What is wrong for certain."""
    return (one.symptom for one in outcome.sightings if one.is_certain)


def alike(symptom: Symptom) -> frozenset[Symptom]:
    """Those that tell of the same."""
    return NUMERIC if symptom in NUMERIC else frozenset((symptom,))


def _unsettled(outcome: CaseOutcome, as_given: CaseOutcome | None) -> Iterator[Symptom]:
    """What is certain of an outcome, would be so as given, and was not looked for there."""
    if not _is_harmless(outcome):
        looked = frozenset[Symptom]() if as_given is None else as_given.checked.union(certain(as_given))
        yield from (symptom for symptom in certain(outcome) if not looked & alike(symptom))


def _is_numeric(sighting: Sighting) -> bool:
    return sighting.is_certain and sighting.symptom in NUMERIC


def _is_harmless(outcome: CaseOutcome) -> bool:
    """With tensors that lie otherwise than given, what is seen is a defect where results are wrong."""
    return outcome.case.layout is not Layout.CONTIGUOUS and NUMERIC.isdisjoint(certain(outcome))


def _of_layout(outcome: CaseOutcome) -> CaseOutcome:
    if not _is_harmless(outcome):
        return outcome
    return replace(outcome, sightings=tuple(_reported(one, frozenset(), OTHERWISE) for one in outcome.sightings))


def _reported(sighting: Sighting, as_given: frozenset[Symptom], where: str) -> Sighting:
    if as_given & alike(sighting.symptom) or not sighting.is_certain or sighting.text.endswith(BETWEEN):
        return sighting
    return replace(sighting, text=f"{sighting.text}, {where}", is_certain=False)
