"""What a subject's trials come to as checks: what none of them looked for never passes, and says why."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.finding import Status
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.gather import gather
from tritonaudit.suites.journal import Ended, Record, Stopped, Trial
from tritonaudit.suites.outcome import CaseOutcome, Sighting

CASE = Case({"n": 64})
ALONE = Ended(Trial("integrity", CASE.label), CaseOutcome(CASE, frozenset((Symptom.PATCHED,))), 1.0)
SPENT = Stopped((("the rest", "the time was spent"),), 8.0, "the time was spent")


def statuses(*entries: Ended | Stopped) -> dict[str, tuple[Status, str]]:
    run = gather(Path("audit_it.py"), "softmax", Record(entries))
    return {outcome.check: (outcome.status, outcome.reason) for outcome in run.outcomes}


def test_what_no_trial_looked_for_is_not_run() -> None:
    found = statuses(ALONE, SPENT)
    assert found[Symptom.PATCHED.value] == (Status.PASS, "")
    assert found[Symptom.WRONG_RESULT.value] == (Status.NOT_RUN, "the time was spent")
    assert set(found) >= {symptom.value for symptom in Symptom if symptom is not Symptom.BROKEN_RELATION}


def test_a_case_that_is_tried_again_counts_once() -> None:
    outcome = CaseOutcome(CASE, frozenset((Symptom.RACE,)))
    again = tuple(Ended(Trial(check, CASE.label), outcome, 1.0) for check in ("call", "call again"))
    run = gather(Path("audit_it.py"), "softmax", Record(again))
    (race,) = (outcome for outcome in run.outcomes if outcome.check == Symptom.RACE.value)
    assert (race.case, run.cases) == ("1 case", 1)


def test_what_a_trial_saw_is_reported_though_the_rest_is_missing() -> None:
    crash = Sighting(Symptom.CRASH, KernelRef("kernels.py", "kernel", 1), None, "the GPU ends it")
    seen = Ended(Trial("integrity", CASE.label), CaseOutcome(CASE, frozenset((Symptom.CRASH,)), (crash,)), 1.0)
    assert statuses(seen, SPENT)[Symptom.CRASH.value] == (Status.FAIL, "the GPU ends it")


def test_a_reference_that_proves_something_in_one_case_is_not_too_weak() -> None:
    text = "zeros would pass as output: that it passes proves nothing"
    weak = Sighting(Symptom.WEAK_REFERENCE, KernelRef("kernels.py", "kernel", 1), None, text)
    checked = frozenset((Symptom.WEAK_REFERENCE,))
    one, other = Case({"n": 1}), CASE
    first = Ended(Trial("integrity", one.label), CaseOutcome(one, checked, (weak,)), 1.0)
    assert statuses(first, SPENT)[Symptom.WEAK_REFERENCE.value] == (Status.INCONCLUSIVE, text)
    second = Ended(Trial("integrity", other.label), CaseOutcome(other, checked), 2.0)
    assert statuses(first, second, SPENT)[Symptom.WEAK_REFERENCE.value] == (Status.PASS, "")
