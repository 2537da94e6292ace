"""What the run stage shows besides its findings: for each subject how much was tried, and how close it came."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonaudit.finding import Outcome, Status
from tritonaudit.report.escape import visible
from tritonaudit.report.section import Line, Note
from tritonaudit.shown import shown_path
from tritonaudit.suites.coverage import Coverage, Verdict
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.outcome import CaseOutcome, Closeness
from tritonaudit.suites.stage import RunAudit

_INDENT = "  "
_VERDICTS = {Verdict.PASS: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red", Verdict.INCOMPLETE: "yellow"}
_STYLES = {
    Status.PASS: "green",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.NOT_RUN: "dim",
    Status.INCONCLUSIVE: "yellow",
    Status.INCOMPLETE: "bold yellow",
}


@dataclass(frozen=True)
class RanSection:
    """The subjects of a run."""

    ran: RunAudit
    key = "ran"

    def lines(self) -> Iterator[Line]:
        for run in self.ran.runs:
            yield from _subject(run, self.ran.device)
            yield ()

    def short_lines(self) -> Iterator[Line]:
        yield from ()

    def notes(self) -> Iterator[Note]:
        yield from ()

    def data(self) -> dict[str, Any]:
        return {"device": self.ran.device, "subjects": [_data(run) for run in self.ran.runs]}


def _subject(run: SubjectRun, device: str) -> Iterator[Line]:
    seconds = sum(trial.seconds for trial in run.trials)
    head = f"{visible(run.name)}  {shown_path(run.path)}  on the {device} in {seconds:.1f} s"
    yield ((head, "bold"),)
    yield (
        (f"{_INDENT}{run.verdict.value.upper():<12}", f"bold {_VERDICTS[run.verdict]}"),
        (f" {run.coverage.shown}", ""),
    )
    for outcome in run.outcomes:
        yield _outcome(outcome)
    if run.failed_unasked:
        yield ((f"{_INDENT}fails beside what was asked for: {', '.join(run.failed_unasked)}", "bold red"),)
    if closeness := [trial.closeness for trial in run.trials if trial.closeness]:
        strict, loose = (sum(getattr(one, name) for one in closeness) for name in ("strict", "loose"))
        worst = max(one.ratio for one in closeness)
        text = f"{_INDENT}error at most {worst:.2g} of its budget; within 1e-5 in {strict} of {len(closeness)} cases,"
        yield ((f"{text} within 1e-3 in {loose}", ""),)
    for question in run.questions:
        yield ((f"{_INDENT}question: {visible(question)}", "yellow"),)
    for what, why in run.left_out:
        yield ((f"{_INDENT}left out: {visible(what)}: {visible(why)}", "dim"),)
    if run.seed is not None:
        yield ((f"{_INDENT}drawn afresh: --seed {run.seed} repeats it", "dim"),)


def _outcome(outcome: Outcome) -> Line:
    reason = f": {visible(outcome.reason)}" if outcome.reason and outcome.status is not Status.PASS else ""
    text = f"{_INDENT}{outcome.status.value:<12}"
    return (text, _STYLES[outcome.status]), (f" {outcome.check}{reason}", "")


def _data(run: SubjectRun) -> dict[str, Any]:
    return {
        "subject": run.name,
        "path": shown_path(run.path),
        "kernels": [
            {"name": kernel.name, "path": shown_path(Path(kernel.path)), "line": kernel.line} for kernel in run.launched
        ],
        "verdict": run.verdict.value,
        "seed": run.seed,
        "coverage": _coverage(run.coverage),
        "cases": run.cases,
        "checks": [
            {"check": one.check, "status": one.status.value, "cases": one.case, "reason": one.reason}
            for one in run.outcomes
        ],
        "trials": [_trial(trial) for trial in run.trials],
        "questions": list(run.questions),
        "asked": [suite.value for suite in run.asked],
        "failed_unasked": list(run.failed_unasked),
        "left_out": [{"what": what, "why": why} for what, why in run.left_out],
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "core": {"tried": coverage.tried, "of": coverage.core},
        "refused": coverage.refused,
        "inapplicable": [{"suite": suite, "why": why} for suite, why in coverage.inapplicable],
        "cases": {"tried": coverage.called, "of": coverage.cases},
        "missing": [{"suite": one.suite, "what": one.what, "why": one.why} for one in coverage.missing],
    }


def _trial(trial: CaseOutcome) -> dict[str, Any]:
    case = trial.case
    return {
        "case": case.label,
        "sizes": dict(case.sizes),
        "dtype": case.dtype,
        "layout": case.layout.value,
        "fill": case.fill,
        "seed": case.seed,
        "configs": list(trial.configs),
        "seen": [symptom.value for symptom in dict.fromkeys(sighting.symptom for sighting in trial.sightings)],
        "closeness": None if trial.closeness is None else _closeness(trial.closeness),
    }


def _closeness(closeness: Closeness) -> dict[str, Any]:
    return {
        "max_error": _finite(closeness.max_error),
        "ratio": _finite(closeness.ratio),
        "strict": closeness.strict,
        "loose": closeness.loose,
    }


def _finite(number: float) -> float | None:
    """The number, or None where it is one that JSON cannot hold."""
    return number if math.isfinite(number) else None
