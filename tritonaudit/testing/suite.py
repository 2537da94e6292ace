"""The suites that a subject has a test of each, and what a suite came to. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.config import Config
from tritonaudit.finding import Audit, Finding, Outcome, Status
from tritonaudit.measure.stage import MeasureAudit
from tritonaudit.report.evidence import ASKED, INTEGRITY, applies, reported_by, suite_of, why_unknown
from tritonaudit.report.parts import suite_of_finding
from tritonaudit.report.standing import NEEDED
from tritonaudit.report.status import fails
from tritonaudit.suites.coverage import shown_missing
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.stage import RunAudit
from tritonaudit.suites.suite import Suite


@dataclass(frozen=True)
class Verdict:
    """What a suite came to: it `failed` with these findings or reasons, or why that is not known is `unknown`.

    Findings below the level that fails stand beside it in any case.
    """

    failed: bool
    findings: tuple[Finding, ...] = ()
    reasons: tuple[str, ...] = ()
    unknown: str = ""


def verdict_of_run(suite: Suite, ran: RunAudit, config: Config) -> Verdict:
    """What a suite of the run stage came to, from the audit of one subject.

    A check that was not made, or came to nothing certain, makes it unknown, and so does one that failed and of which
    nothing is reported, since that is suppressed or its rule is off.
    """
    findings = tuple(finding for finding in ran.audit.findings if suite_of_finding(finding) is suite)
    if (failed := _failed(ran.audit, findings, config)) is not None:
        return failed
    reported = {finding.code for finding in ran.audit.findings}
    unknown = (reason for run in ran.runs for reason in _unknown(suite, run, reported))
    return Verdict(False, findings, unknown=next(unknown, "" if ran.runs else "it was not run"))


def verdict_of_measuring(measured: MeasureAudit, config: Config) -> Verdict:
    """What the performance of one subject came to."""
    findings = measured.audit.findings
    if (failed := _failed(measured.audit, findings, config)) is not None:
        return failed
    outcomes = [outcome for subject in measured.subjects for outcome in subject.outcomes]
    if wrong := [_reported(outcome) for outcome in outcomes if outcome.status is Status.FAIL]:
        return Verdict(True, findings, tuple(wrong))
    missed = (_reported(one) for one in outcomes if one.check in NEEDED and one.status is not Status.PASS)
    return Verdict(False, findings, unknown=measured.reason or next(missed, ""))


def _failed(audit: Audit, findings: Sequence[Finding], config: Config) -> Verdict | None:
    problems = tuple(f"{problem.path}: {problem.message}" for problem in audit.problems)
    return Verdict(True, tuple(findings), problems) if problems or fails(findings, config) else None


def _unknown(suite: Suite, run: SubjectRun, reported: set[str]) -> Iterator[str]:
    """Why it cannot be said that the suite passes."""
    outcomes = [outcome for outcome in run.outcomes if suite_of(outcome.check) is suite]
    for outcome in outcomes:
        if outcome.status is Status.INCONCLUSIVE:
            yield _reported(outcome)
        if outcome.status in (Status.FAIL, Status.WARN) and not reported & reported_by(outcome.check):
            yield f"seen, with no finding of it: {outcome.check}"
    if missing := run.coverage.missing_of(suite):
        yield f"not everything that has to be tried was tried: {shown_missing(missing)}"
    asked = (check for check in sorted(ASKED | INTEGRITY) if suite_of(check) is suite and applies(check, run))
    for check in asked:
        if why := why_unknown(check, run):
            yield f"{check}: {why}"


def _reported(outcome: Outcome) -> str:
    return ": ".join(filter(None, (outcome.check, outcome.status.value, outcome.reason)))
