"""What an audit could not do, in one line each: problems, and things that were not analysed."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.absent.outcomes import IMPORT
from tritonaudit.finding import Audit, Outcome, Problem, Status, place_of
from tritonaudit.measure.checks import Check
from tritonaudit.report.escape import visible
from tritonaudit.suites.facts import CROSS_CHECK

UNPARSABLE = "TAX001"  # its finding and its problem are one event: the problem makes the exit code 2

_VERBS = {
    **{check.value: "measured" for check in Check},
    Check.PROFILED.value: "profiled",
    CROSS_CHECK: "cross-checked",
    IMPORT: "imported as a whole",
}


def problem_line(problem: Problem) -> str:
    """`path:line: problem: message`."""
    return visible(f"{place_of(problem)}: problem: {problem.message}")


def not_analysed(audit: Audit) -> list[Outcome]:
    """The outcomes that say that something was not looked at."""
    return [outcome for outcome in audit.outcomes if outcome.status is Status.NOT_RUN]


def incomplete(audit: Audit) -> list[Outcome]:
    """The outcomes that say that something was tried in part, and a pass would rest on too little."""
    return [outcome for outcome in audit.outcomes if outcome.status is Status.INCOMPLETE]


def incomplete_line(outcome: Outcome) -> str:
    """`path: subject: INCOMPLETE, 12 of 38 core trials, …: what is missing`."""
    return f"{visible(outcome.subject)}: INCOMPLETE, {outcome.case}: {visible(outcome.reason)}"


def not_analysed_line(outcome: Outcome) -> str:
    """`path: not analysed: reason`."""
    reason = f": {visible(outcome.reason)}" if outcome.reason else ""
    return f"{visible(outcome.subject)}: not {_VERBS.get(outcome.check, 'analysed')}{reason}"


def not_analysed_lines(audit: Audit) -> list[str]:
    """Each thing that was not looked at once: what fails alike for several targets is one line."""
    return list(dict.fromkeys(map(not_analysed_line, not_analysed(audit))))


def missed(audit: Audit) -> Iterator[tuple[Outcome, str]]:
    """What was tried in part or not looked at, each with its line."""
    yield from ((outcome, incomplete_line(outcome)) for outcome in incomplete(audit))
    yield from ((outcome, not_analysed_line(outcome)) for outcome in not_analysed(audit))


def shortfall_lines(audit: Audit) -> list[str]:
    """All of them, but for the problems that a finding of the tool's own already tells."""
    reported = {(finding.path, finding.span.cell) for finding in audit.findings if finding.code == UNPARSABLE}
    problems = (problem for problem in audit.problems if (problem.path, problem.cell) not in reported)
    return [*map(problem_line, problems), *map(incomplete_line, incomplete(audit)), *not_analysed_lines(audit)]
