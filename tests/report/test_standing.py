"""What several categories come to together."""

from __future__ import annotations

import pytest

from tritonaudit.report.standing import Verdict, verdict_of_all

FAIL, INCOMPLETE, WARN, NOT_RUN, PASS = Verdict


@pytest.mark.parametrize(
    ("known", "together"),
    [
        ([PASS, PASS], PASS),
        ([PASS, WARN], WARN),
        ([NOT_RUN, NOT_RUN], NOT_RUN),
        ([PASS, NOT_RUN], INCOMPLETE),
        ([WARN, NOT_RUN], INCOMPLETE),
        ([PASS, WARN, INCOMPLETE], INCOMPLETE),
        ([FAIL, NOT_RUN, PASS], FAIL),
    ],
)
def test_the_worst_counts_and_what_did_not_run_is_passed_over_by_none(known: list[Verdict], together: Verdict) -> None:
    assert verdict_of_all(known) is together
