"""The parts of the run stage: a run with the checks and findings of those that were asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tritonaudit.finding import Finding, Outcome, Stage, Status
from tritonaudit.report.evidence import INTEGRITY, SUITE_OF_CATEGORY, codes_of, suite_of
from tritonaudit.suites.coverage import SUITES
from tritonaudit.suites.facts import CORE, CROSS_CHECK, Symptom
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.journal import REST
from tritonaudit.suites.stage import RunAudit
from tritonaudit.suites.suite import Suite

_OF_EVERY_PART = frozenset((CORE, CROSS_CHECK, REST))


def suite_of_finding(finding: Finding) -> Suite:
    """The suite that a finding of the run or the measure stage belongs to."""
    if finding.stage is Stage.MEASURE:
        return Suite.PERFORMANCE
    if any(finding.code in codes_of(check) for check in INTEGRITY):
        return Suite.INTEGRITY
    if finding.code in codes_of(Symptom.OVERFLOW.value):
        return Suite.MEMORY
    return SUITE_OF_CATEGORY.get(finding.category, Suite.CORRECTNESS)


def asked_for(ran: RunAudit, parts: Collection[str]) -> RunAudit:
    """The audit with the checks and findings of these parts only; what failed in others is named with each subject."""
    suites = tuple(suite for suite in SUITES if suite.value in parts)
    if suites == SUITES:
        return ran
    of_runs = {outcome for run in ran.runs for outcome in run.outcomes}
    kept = [one for one in ran.audit.outcomes if one not in of_runs or _is_of(one, suites)]
    found = [finding for finding in ran.audit.findings if suite_of_finding(finding) in suites]
    audit = replace(ran.audit, findings=tuple(found), outcomes=tuple(kept))
    return replace(ran, audit=audit, runs=tuple(_run(run, suites) for run in ran.runs))


def _run(run: SubjectRun, suites: tuple[Suite, ...]) -> SubjectRun:
    kept = [outcome for outcome in run.outcomes if _is_of(outcome, suites)]
    others = [one.check for one in run.outcomes if one not in kept and one.status is Status.FAIL]
    return replace(run, outcomes=tuple(kept), asked=suites, failed_unasked=tuple(others))


def _is_of(outcome: Outcome, suites: Collection[Suite]) -> bool:
    return outcome.check in _OF_EVERY_PART or suite_of(outcome.check) in suites
