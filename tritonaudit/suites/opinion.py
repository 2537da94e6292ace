"""A second opinion on the results of the CPU engine: on which cases it is asked, and what it comes to.

Imports neither torch nor triton.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tritonaudit.finding import Outcome, Status
from tritonaudit.subject.model import Case
from tritonaudit.suites.axes import is_huge
from tritonaudit.suites.facts import CROSS_CHECK
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.sentences import counted

START_SECONDS = 30.0
"""In which the interpreter's process is to be there."""
CASE_SECONDS = 15.0
"""For a case in the interpreter."""
SECONDS = 45.0
"""Since the first case was asked for: then no further one is begun."""
LONGEST_SECONDS = START_SECONDS + SECONDS + CASE_SECONDS
"""What all of it can take, beside the time that the subject is tried for."""
_CASES = 5
_QUICK = 10.0
"""Seconds on the CPU engine, above which a case is too much for the interpreter."""


@dataclass(frozen=True)
class Opinion:
    """What the interpreter says to the results of a case: the same, or the first `difference`.

    `reason` says why the two were not compared, or with a difference what is known to explain it.
    """

    case: str
    difference: str = ""
    reason: str = ""

    @property
    def agrees(self) -> bool:
        """Whether it was asked, and says the same."""
        return not self.difference and not self.reason


def cases_to_ask(cases: Sequence[Case], outcomes: Sequence[CaseOutcome]) -> list[Case]:
    """The first few ordinary cases of those that were called and took little time."""
    quick = {outcome.case.label for outcome in outcomes if outcome.kernels and outcome.seconds <= _QUICK}
    return [case for case in cases if _is_ordinary(case) and case.label in quick][:_CASES]


def _is_ordinary(case: Case) -> bool:
    sizes = case.sizes.values()
    return case.is_plain and 0 not in sizes and not any(map(is_huge, sizes))


def outcome_of(place: str, opinions: Sequence[Opinion]) -> Outcome:
    """What they come to together, at least one: a difference without an explanation counts most."""
    differing = [one for one in opinions if one.difference]
    agreeing = [one for one in opinions if one.agrees]
    first = next((one for one in differing if not one.reason), None if agreeing else next(iter(differing), None))
    if first is not None:
        reason = f"{first.case}: {first.difference}{f' ({first.reason})' if first.reason else ''}"
        asked = counted(len(differing) + len(agreeing), "case")
        return Outcome(CROSS_CHECK, place, Status.INCONCLUSIVE, asked, reason)
    if agreeing:
        reasons = [one.reason for one in opinions if one.reason]
        also = f"not in {counted(len(reasons), 'case')}: {reasons[0]}" if reasons else ""
        return Outcome(CROSS_CHECK, place, Status.PASS, counted(len(agreeing), "case"), also)
    return Outcome(CROSS_CHECK, place, Status.NOT_RUN, reason=opinions[0].reason)
