"""Entries of histories, made of runs and measurements by hand; only what matters to a test is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests import measured, ran
from tritonaudit.finding import Audit, Confidence, Finding, Severity, Span, Status
from tritonaudit.history.entry import entry_of
from tritonaudit.history.folder import keep
from tritonaudit.measure.facts import Row
from tritonaudit.suites.outcome import Closeness

COMMIT = {"id": "1a2b3c4d5e" * 4, "dirty": False}
WRONG = "wrong result"


def finding(message: str = "`y` is wrong", line: int = 7, expression: str = "y") -> Finding:
    span = Span(line, 5, line, 9)
    place: Any = {"path": "kernels.py", "span": span, "kernel": "kernel", "expression": expression}
    return Finding("TAC401", "wrong-result", Severity.ERROR, Confidence.HIGH, message, **place)


def entry(
    *rows: Row,
    findings: tuple[Finding, ...] = (),
    ratio: float = 0.5,
    checks: dict[str, Status] | None = None,
    subject: str = "softmax",
    **said: Any,
) -> dict[str, Any]:
    """An entry of one subject with this worst error, measured at these sizes; further keys replace the entry's."""
    trial = ran.trial(close=Closeness(1e-7, ratio, True, True))
    sections: list[Any] = [ran.section(ran.run(subject, trial, checks=checks))]
    if rows:
        sections.append(measured.section(measured.subject(*rows)))
    return {**entry_of(Audit(findings), sections, COMMIT, None), "when": "2026-01-31T12:00:00Z", **said}


def history(folder: Path, *entries: dict[str, Any]) -> Path:
    """A history of them."""
    for one in entries:
        keep(folder, one)
    return folder
