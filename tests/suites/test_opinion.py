"""On which cases the interpreter is asked for a second opinion, and what several of them come to together."""

from __future__ import annotations

import pytest

from tritonaudit.capture.launch import KernelRef
from tritonaudit.finding import Status
from tritonaudit.subject.model import Case, Layout
from tritonaudit.suites.opinion import Opinion, cases_to_ask, outcome_of
from tritonaudit.suites.outcome import CaseOutcome

SAME = Opinion("n=64 float32")
WRONG_THERE = Opinion("n=64 bfloat16", "output[3] is 1 here, 2 there", "it computes bfloat16 wrongly")
OTHER = Opinion("n=100 float32", "output[0] is 1 here, 2 there")
UNASKED = Opinion("n=7 float32", reason="it raised ValueError")


@pytest.mark.parametrize(
    ("opinions", "status", "cases", "reason"),
    [
        ((SAME, SAME), Status.PASS, "2 cases", ""),
        ((SAME, UNASKED), Status.PASS, "1 case", "not in 1 case: it raised ValueError"),
        ((WRONG_THERE, SAME), Status.PASS, "1 case", "not in 1 case: it computes bfloat16 wrongly"),
        ((WRONG_THERE, OTHER), Status.INCONCLUSIVE, "2 cases", "n=100 float32: output[0] is 1 here, 2 there"),
        ((SAME, OTHER, UNASKED), Status.INCONCLUSIVE, "2 cases", "n=100 float32: output[0] is 1 here, 2 there"),
        (
            (WRONG_THERE,),
            Status.INCONCLUSIVE,
            "1 case",
            "n=64 bfloat16: output[3] is 1 here, 2 there (it computes bfloat16 wrongly)",
        ),
        ((UNASKED,), Status.NOT_RUN, "", "it raised ValueError"),
    ],
)
def test_together_they_come_to(opinions: tuple[Opinion, ...], status: Status, cases: str, reason: str) -> None:
    outcome = outcome_of("audit_x.py: x", opinions)
    assert (outcome.status, outcome.case, outcome.reason) == (status, cases, reason)


def called(case: Case, seconds: float = 0.1) -> CaseOutcome:
    return CaseOutcome(case, frozenset(), kernels=(KernelRef("kernels.py", "kernel", 1),), seconds=seconds)


def test_the_first_few_ordinary_cases_are_asked_of() -> None:
    ordinary = [Case({"n": size}) for size in range(1, 9)]
    hard = [
        Case({"n": 64}, fill="nan"),
        Case({"n": 64}, layout=Layout.TRANSPOSED),
        Case({"n": 0}),
        Case({"n": 1 << 20}),
    ]
    cases = [*hard, *ordinary]
    assert cases_to_ask(cases, [called(case) for case in cases]) == ordinary[:5]


def test_cases_that_were_slow_launched_nothing_or_were_not_called_are_not_asked_of() -> None:
    cases = [Case({"n": size}) for size in (1, 2, 3, 4)]
    slow, quick, idle, _ = cases
    outcomes = [called(slow, 60.0), called(quick), CaseOutcome(idle, frozenset())]
    assert cases_to_ask(cases, outcomes) == [quick]
