"""What a suite of a subject comes to, from runs and measurements made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests import measured, ran
from tests.history.entries import finding
from tritonaudit.config import Config
from tritonaudit.finding import Audit, Finding, Problem, Severity, Status
from tritonaudit.measure.stage import MeasureAudit
from tritonaudit.report.evidence import suite_of
from tritonaudit.report.parts import suite_of_finding
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.stage import RunAudit
from tritonaudit.testing.suite import Suite, Verdict, verdict_of_measuring, verdict_of_run

CONFIG = Config(Path())
PASSED = Verdict(False)
OF_RUN = [suite for suite in Suite if suite is not Suite.PERFORMANCE]


def verdict(suite: Suite, *findings: Finding, checks: dict[str, Status] | None = None) -> Verdict:
    audited = RunAudit(Audit(findings), (ran.run("softmax", checks=checks),))
    return verdict_of_run(suite, audited, CONFIG)


def coded(code: str, severity: Severity = Severity.ERROR) -> Finding:
    return replace(finding(), code=code, severity=severity)


@pytest.mark.parametrize("suite", OF_RUN)
def test_a_suite_passes_where_all_that_is_asked_passes(suite: Suite) -> None:
    assert verdict(suite) == PASSED


@pytest.mark.parametrize(
    ("symptom", "code", "suite"),
    [
        (Symptom.WRONG_RESULT, "TAC401", Suite.CORRECTNESS),
        (Symptom.CRASH, "TAC407", Suite.CORRECTNESS),
        (Symptom.OUT_OF_BOUNDS, "TAM401", Suite.MEMORY),
        (Symptom.UNSTABLE, "TAN401", Suite.STABILITY),
        (Symptom.STALE, "TAC412", Suite.INTEGRITY),
    ],
)
def test_a_finding_fails_its_suite_alone(symptom: Symptom, code: str, suite: Suite) -> None:
    assert suite_of(symptom.value) is suite
    assert suite_of_finding(coded(code)) is suite
    assert [one for one in OF_RUN if verdict(one, coded(code)).failed] == [suite]


def test_a_finding_below_the_level_fails_nothing_and_is_reported() -> None:
    warning = coded("TAC401", Severity.WARNING)
    assert verdict(Suite.CORRECTNESS, warning) == Verdict(False, (warning,))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status.NOT_RUN, "wrong result: not run: why"),
        (Status.INCONCLUSIVE, "wrong result: inconclusive"),
        (Status.FAIL, "seen, with no finding of it: wrong result"),
    ],
)
def test_what_is_not_known_is_no_pass(status: Status, said: str) -> None:
    checks = {Symptom.WRONG_RESULT.value: status}
    assert verdict(Suite.CORRECTNESS, checks=checks) == Verdict(False, unknown=said)
    assert verdict(Suite.MEMORY, checks=checks) == PASSED


@pytest.mark.parametrize("suite", OF_RUN)
def test_a_subject_of_which_nothing_is_known_passes_nothing(suite: Suite) -> None:
    nothing = replace(ran.run("softmax"), outcomes=())
    assert verdict_of_run(suite, RunAudit(Audit(), (nothing,)), CONFIG).unknown.endswith(": not tried")
    assert verdict_of_run(suite, RunAudit(Audit(), ()), CONFIG).unknown == "it was not run"


def test_what_could_not_be_done_fails() -> None:
    problem = Problem("audit_it.py", "the subject 'softmax' was not tried: its process exited with code 3")
    lost = RunAudit(Audit(problems=(problem,)), ())
    assert verdict_of_run(Suite.MEMORY, lost, CONFIG) == Verdict(True, (), (f"audit_it.py: {problem.message}",))


def test_performance_passes_where_everything_was_compared() -> None:
    assert performance(measured.row(1.05, 1.5, 1.2)).unknown == ""
    assert not performance(measured.row(1.05, 1.5, 1.2)).failed
    assert performance(measured.row(1.05)).unknown.startswith("compared with PyTorch: not run")


def test_performance_fails_where_a_result_was_wrong() -> None:
    wrong = performance(measured.row(1.05, 1.5, 1.2, status=Status.FAIL, reason="another result after the timing"))
    assert wrong.failed
    assert "verified again after the timing: fail: another result after the timing" in wrong.reasons


def test_performance_that_was_not_measured_is_unknown() -> None:
    assert performance(measured.missed("out of memory")).unknown == (
        "timed at small, medium and large sizes: not run: out of memory"
    )
    nothing = MeasureAudit(Audit(), (), reason="the process that measures ran out of time")
    assert verdict_of_measuring(nothing, CONFIG).unknown == "the process that measures ran out of time"


def performance(row: measured.Row) -> Verdict:
    audited = MeasureAudit(Audit(), (measured.subject(row),), measured.GPU)
    return verdict_of_measuring(audited, CONFIG)
