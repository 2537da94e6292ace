"""How much of what was to be tried of a subject was tried, and what that makes of its verdict.

Imports neither torch nor triton.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from tritonaudit.finding import Outcome, Status
from tritonaudit.suites.core import as_given_trials
from tritonaudit.suites.facts import CORE, CROSS_CHECK
from tritonaudit.suites.journal import CoreTrial, Record, Trial
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.stability import is_wrong_on_normal_numbers
from tritonaudit.suites.suite import Suite

NOT_PLANNED = "what is to be tried"
REFERENCE = "a reference"
"""What is missing where there is none, and relations alone are tried."""
SUITES = (Suite.CORRECTNESS, Suite.STABILITY, Suite.MEMORY, Suite.INTEGRITY)
"""Those of the run stage."""


class Verdict(Enum):
    """What trying a subject came to. INCOMPLETE is no pass: part of what has to be tried was not."""

    FAIL = "fail"
    INCOMPLETE = "incomplete"
    WARN = "warn"
    PASS = "pass"


@dataclass(frozen=True)
class Missed:
    """Something of the core that was not tried: of which suite, what it is, and why.

    It is moot where it could show nothing more, since the subject fails without it.
    """

    suite: str
    what: str
    why: str
    is_moot: bool = False


@dataclass(frozen=True)
class Coverage:
    """Of a core of so many trials so many were `tried`, and of so many different `cases` so many were `called`.

    The core is small, and nothing passes without it; `cases` are all that an audit with time enough tries.
    Of the trials that were tried so many were `refused`: the wrapper does not take their cases. Suites that do not
    apply to the subject are `inapplicable`, each with the reason.
    """

    core: int = 0
    tried: int = 0
    missing: tuple[Missed, ...] = ()
    cases: int = 0
    called: int = 0
    refused: int = 0
    inapplicable: tuple[tuple[str, str], ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all of the core was tried that could show something."""
        return all(missed.is_moot for missed in self.missing)

    def missing_of(self, *suites: Suite) -> tuple[Missed, ...]:
        """What of the core of these suites was not tried."""
        return tuple(missed for missed in self.missing if missed.suite in {suite.value for suite in suites})

    @property
    def shown(self) -> str:
        """`38 of 38 core trials, 12 refused by the wrapper, 33 of 111 cases`."""
        return f"{self.shown_core}, {self.called} of {self.cases} cases"

    @property
    def shown_core(self) -> str:
        """`38 of 38 core trials, 12 refused by the wrapper`."""
        refused = f", {self.refused} refused by the wrapper" if self.refused else ""
        without = "".join(f", {suite} does not apply" for suite, _ in self.inapplicable)
        return f"{self.tried} of {self.core} core trials{refused}{without}"


def shown_missing(missing: Iterable[Missed]) -> str:
    """`memory: n=1023 and n=1: the time was spent`, by suite and reason."""
    alike: dict[tuple[str, str], list[str]] = {}
    for missed in missing:
        alike.setdefault((missed.suite, missed.why), []).append(missed.what)
    return "; ".join(f"{suite}: {_listed(what)}: {why}" for (suite, why), what in alike.items())


def _listed(what: Sequence[str], most: int = 3) -> str:
    more = f" and {len(what) - most} more" if len(what) > most else ""
    return ", ".join(what[:most]) + more


def coverage_of(records: Sequence[tuple[Record, Sequence[Suite]]], cut_short: str) -> Coverage:
    """What the records of a subject cover, each of which is of some suites.

    Where nothing else is known, what is missing was `cut_short` by this.
    """
    core: list[CoreTrial] = []
    missing: list[Missed] = []
    inapplicable: dict[str, str] = {}
    refused = 0
    planned: dict[str, None] = {}
    tried_cases: dict[str, None] = {}
    for record, suites in records:
        plan = record.planned
        tried_cases |= dict.fromkeys(outcome.case.label for outcome in record.outcomes.values())
        why = _why_stopped(record, cut_short)
        if plan is None:
            missing += [Missed(suite.value, NOT_PLANNED, why) for suite in suites]
            continue
        of_record = (*plan.core, *as_given_trials(record.outcomes))
        core += of_record
        inapplicable |= dict(plan.inapplicable)
        has = {one.suite for one in plan.core} | inapplicable.keys()
        empty = [suite for suite in suites if suite.value not in has]
        missing += [Missed(suite.value, NOT_PLANNED, "its inputs leave nothing to try") for suite in empty]
        missing += _missing(of_record, record.outcomes, why)
        refused += len(_refused(of_record, record.outcomes))
        planned |= dict.fromkeys(plan.cases)
    planned |= tried_cases
    wanted = len(core) - sum(missed.is_moot for missed in missing)
    tried = len(core) - sum(missed.what != NOT_PLANNED for missed in missing)
    return Coverage(wanted, tried, tuple(missing), len(planned), len(tried_cases), refused, tuple(inapplicable.items()))


def _why_stopped(record: Record, cut_short: str) -> str:
    return cut_short if record.stopped is None else record.stopped.why


def _missing(core: Sequence[CoreTrial], outcomes: Mapping[Trial, CaseOutcome], why: str) -> Iterator[Missed]:
    is_wrong = any(map(is_wrong_on_normal_numbers, outcomes.values()))
    refused = _refused(core, outcomes)
    for one in core:
        outcome = outcomes.get(one.trial)
        if outcome is None:
            is_moot = one.suite == Suite.STABILITY.value and is_wrong
            yield Missed(one.suite, one.what, "not tried, since ordinary inputs fail" if is_moot else why, is_moot)
        elif not _is_done(one, outcome) and one not in refused:
            yield Missed(one.suite, one.what, _why_unchecked(one, outcome))


def _refused(core: Sequence[CoreTrial], outcomes: Mapping[Trial, CaseOutcome]) -> list[CoreTrial]:
    """What the wrapper refuses beside what was judged: of hardships that is all which was."""
    ended = [(one, outcomes[one.trial]) for one in core if one.trial in outcomes]
    judged = {one.suite for one, outcome in ended if _is_done(one, outcome)}
    may_be = {*judged, Suite.STABILITY.value} if judged else judged
    return [
        one
        for one, outcome in ended
        if outcome.is_refused and one.suite in may_be and not one.decides and not _is_done(one, outcome)
    ]


def _is_done(one: CoreTrial, outcome: CaseOutcome) -> bool:
    """Whether the trial looked for what it is there for, or saw what is certainly wrong and ends it."""
    return one.symptoms <= outcome.checked or any(seen.is_certain for seen in outcome.sightings)


def _why_unchecked(one: CoreTrial, outcome: CaseOutcome) -> str:
    reasons = (reason for symptom, reason in outcome.unchecked if symptom in one.symptoms)
    return next(reasons, "it came to no result")


def core_outcome(place: str, outcomes: Iterable[Outcome], coverage: Coverage, held: str = "") -> Outcome:
    """What of the core was tried, as a check of its own, which is incomplete where a pass would rest on too little.

    Where there is no reference, `held` says what stands in its place.
    """
    doubts = [f"{one.check} inconclusive: {one.reason}" for one in outcomes if one.status is Status.INCONCLUSIVE]
    if coverage.is_complete and not doubts:
        reason = "; ".join(f"{suite} does not apply: {why}" for suite, why in coverage.inapplicable)
        return Outcome(CORE, place, Status.PASS, coverage.shown, reason)
    missing = [one for one in coverage.missing if not held or one.what != REFERENCE]
    reason = "; ".join(filter(None, (held, shown_missing(missing), *doubts)))
    return Outcome(CORE, place, Status.INCOMPLETE, coverage.shown, reason)


def verdict_of(outcomes: Iterable[Outcome], coverage: Coverage) -> Verdict:
    """What the outcomes of a subject's checks and its coverage come to together; second opinions do not count."""
    statuses = {outcome.status for outcome in outcomes if outcome.check not in (CORE, CROSS_CHECK)}
    if Status.FAIL in statuses:
        return Verdict.FAIL
    if not coverage.is_complete or Status.INCONCLUSIVE in statuses:
        return Verdict.INCOMPLETE
    return Verdict.WARN if Status.WARN in statuses else Verdict.PASS
