"""GitLab's code quality report, which it shows on the lines of a merge request.

Its fields are those that GitLab documents for `artifacts:reports:codequality`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from tritonaudit.finding import Audit, Finding, Outcome, Problem, Severity, Status
from tritonaudit.report.about import About
from tritonaudit.report.escape import visible
from tritonaudit.report.from_root import from_root
from tritonaudit.report.known import known_mark
from tritonaudit.report.section import Section
from tritonaudit.report.shortfall import missed
from tritonaudit.report.sources import Sources, in_cell

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """A list with each finding, and with what could not be read or was not looked at."""
    audit = from_root(audit, about.here)
    sources = Sources(audit.texts)
    entries = [
        *(_finding(finding, sources) for finding in audit.findings),
        *map(_problem, audit.problems),
        *(_missing(outcome, text) for outcome, text in missed(audit)),
    ]
    each_once = {entry["fingerprint"]: entry for entry in entries}
    return json.dumps(list(each_once.values()), indent=2) + "\n"


def _finding(finding: Finding, sources: Sources) -> dict[str, Any]:
    span = sources.in_file(finding.path, finding.span)
    text = in_cell(finding.span.line, finding.span.cell) + visible(finding.message)
    said = f"{finding.code} {finding.name}: {text}{known_mark(finding)}"
    return _entry(finding.code, said, _SEVERITIES[finding.severity], finding.path, span.line, finding.fingerprint)


def _problem(problem: Problem) -> dict[str, Any]:
    line = 1 if problem.line is None or problem.cell is not None else problem.line
    text = in_cell(problem.line, problem.cell) + visible(problem.full_message)
    return _entry("problem", text, "critical", problem.path if problem.in_file else ".", line, problem.message)


def _missing(outcome: Outcome, text: str) -> dict[str, Any]:
    check = "incomplete" if outcome.status is Status.INCOMPLETE else "not-analysed"
    return _entry(check, text, "info", outcome.subject, 1, f"{outcome.check} {outcome.case} {outcome.reason}")


def _entry(check: str, text: str, severity: str, path: str, line: int, identity: str) -> dict[str, Any]:
    """The fingerprint is one of the whole report: GitLab takes two alike for one issue."""
    digest = hashlib.sha256("\0".join((check, path, identity)).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "description": text,
        "check_name": check,
        "fingerprint": digest,
        "severity": severity,
        "location": {"path": visible(path), "lines": {"begin": line}},
    }
