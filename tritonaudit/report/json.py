"""The findings as JSON: beside this module, `findings.schema.json` describes them, and `audit.schema.json` an audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tritonaudit.finding import Audit, Finding, Fix, Outcome, Problem, Related, Span, Witness
from tritonaudit.report.about import About
from tritonaudit.report.section import Section
from tritonaudit.report.shortfall import not_analysed


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """One JSON object, in ASCII so that no reader's encoding can spoil it."""
    report = {**as_data(audit), **{section.key: section.data() for section in sections}}
    return json.dumps(report, indent=2, ensure_ascii=True) + "\n"


def as_data(audit: Audit) -> dict[str, Any]:
    """What the object says of an audit itself."""
    return {
        "findings": [_finding(finding) for finding in audit.findings],
        "errors": [_error(problem) for problem in audit.problems],
        "not_analysed": [_not_analysed(outcome) for outcome in not_analysed(audit)],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "path": finding.path,
        **_place(finding.span),
        "kernel": finding.kernel,
        "remedy": finding.remedy,
        "related": [_related(related) for related in finding.related],
        "fix": None if finding.fix is None else _fix(finding.fix),
        "witness": None if finding.witness is None else _witness(finding.witness),
        "fingerprint": finding.fingerprint,
        "in_baseline": finding.in_baseline,
    }


def _related(related: Related) -> dict[str, Any]:
    return {"message": related.message, "path": related.path, **_place(related.span)}


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [{**_place(edit.span), "replacement": edit.replacement} for edit in fix.edits]
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


def _witness(witness: Witness) -> dict[str, Any]:
    return {"description": witness.description, "command": witness.command}


def _place(span: Span) -> dict[str, int | None]:
    return {
        "cell": span.cell,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _error(problem: Problem) -> dict[str, Any]:
    path = problem.path if problem.in_file else None
    return {"path": path, "cell": problem.cell, "line": problem.line, "message": problem.full_message}


def _not_analysed(outcome: Outcome) -> dict[str, str]:
    return {"subject": outcome.subject, "check": outcome.check, "case": outcome.case, "reason": outcome.reason}
