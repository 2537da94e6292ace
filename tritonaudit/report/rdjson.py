"""Reviewdog's diagnostic format: what reviewdog puts on the lines of a review, whatever the forge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tritonaudit.finding import Audit, Finding, Outcome, Problem, Related, Severity, Span
from tritonaudit.report.about import About
from tritonaudit.report.escape import visible
from tritonaudit.report.from_root import from_root
from tritonaudit.report.known import known_mark
from tritonaudit.report.section import Section
from tritonaudit.report.shortfall import missed
from tritonaudit.report.sources import Sources, in_cell

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """One result with a diagnostic for each finding, and for what could not be read or was not looked at."""
    audit = from_root(audit, about.here)
    places = _Places(audit)
    diagnostics = [
        *(_finding(finding, places) for finding in audit.findings),
        *map(_problem, audit.problems),
        *(_missing(outcome, text) for outcome, text in missed(audit)),
    ]
    return json.dumps({"source": {"name": "tritonaudit"}, "diagnostics": diagnostics}, indent=2) + "\n"


class _Places:
    """Places as the format counts them: columns in bytes of UTF-8."""

    def __init__(self, audit: Audit) -> None:
        self.sources = Sources(audit.texts)
        self._lines = {path: text.split("\n") for path, text in audit.texts.items()}

    def location(self, path: str, span: Span) -> dict[str, Any]:
        return {"path": visible(path), "range": self.range(path, self.sources.in_file(path, span))}

    def range(self, path: str, span: Span) -> dict[str, Any]:
        """That of a span of the file."""
        return {
            "start": self._position(path, span.line, span.column),
            "end": self._position(path, span.end_line, span.end_column),
        }

    def _position(self, path: str, line: int, column: int) -> dict[str, int]:
        lines = self._lines.get(path, [])
        before = lines[line - 1][: column - 1] if line <= len(lines) else ""
        return {"line": line, "column": column + len(before.encode("utf-8", "surrogatepass")) - len(before)}


def _finding(finding: Finding, places: _Places) -> dict[str, Any]:
    text = in_cell(finding.span.line, finding.span.cell) + visible(finding.message) + known_mark(finding)
    if finding.remedy:
        text += f"\nhelp: {visible(finding.remedy)}"
    return {
        "message": text,
        "location": places.location(finding.path, finding.span),
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
        "suggestions": _suggestions(finding, places),
        "related_locations": [_related(related, places) for related in finding.related],
    }


def _suggestions(finding: Finding, places: _Places) -> list[dict[str, Any]]:
    """A safe fix of one edit: several suggestions would be alternatives, and each an edit too few."""
    fix = finding.fix
    if fix is None or not fix.safe or len(fix.edits) != 1:
        return []
    edit = places.sources.edit_in_file(finding.path, fix.edits[0])
    return [{"range": places.range(finding.path, edit.span), "text": edit.replacement}]


def _related(related: Related, places: _Places) -> dict[str, Any]:
    text = in_cell(related.span.line, related.span.cell) + visible(related.message)
    return {"message": text, "location": places.location(related.path, related.span)}


def _problem(problem: Problem) -> dict[str, Any]:
    line = {} if problem.line is None or problem.cell is not None else {"range": {"start": {"line": problem.line}}}
    return {
        "message": in_cell(problem.line, problem.cell) + visible(problem.full_message),
        "location": {"path": visible(problem.path) if problem.in_file else ".", **line},
        "severity": "ERROR",
        "code": {"value": "problem"},
    }


def _missing(outcome: Outcome, text: str) -> dict[str, Any]:
    return {"message": text, "location": {"path": visible(outcome.subject)}, "severity": "INFO"}
