"""Findings as the protocol's diagnostics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from tritonaudit.finding import Finding, Related, Severity, Span
from tritonaudit.rules import find_rule
from tritonaudit.server.texts import Text
from tritonaudit.source.decode import Undecodable, decode

SOURCE = "tritonaudit"
_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}
_UNUSED = "TAX002"


def diagnostic(finding: Finding, path: Path, text: Text) -> lsp.Diagnostic:
    """One finding in a file that is open with this text."""
    rule = find_rule(finding.code)
    page = None if rule is None or not rule.page_file().is_file() else rule.page_file().as_uri()
    return lsp.Diagnostic(
        range=text.range(finding.span),
        message=finding.message + (f"\nhelp: {finding.remedy}" if finding.remedy else ""),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=None if page is None else lsp.CodeDescription(page),
        source=SOURCE,
        tags=[lsp.DiagnosticTag.Unnecessary] if finding.code == _UNUSED else None,
        related_information=[
            lsp.DiagnosticRelatedInformation(_location(related, path, text), related.message)
            for related in finding.related
        ]
        or None,
    )


def _location(related: Related, path: Path, text: Text) -> lsp.Location:
    place = os.path.abspath(related.path)
    there = text if Path(place) == path else Text(_on_disk(place), 0, text.units)
    return lsp.Location(from_fs_path(place) or "", there.range(related.span))


def _on_disk(path: str) -> str:
    try:
        return decode(Path(path).read_bytes())
    except (OSError, Undecodable):
        return ""


def moved(findings: tuple[Finding, ...], before: Text, after: Text) -> Iterator[Finding]:
    """The findings of an earlier text where they stand in a later one; those on lines that changed are left out."""
    old, new = before.lines, after.lines
    most = min(len(old), len(new))
    first = next((line for line in range(most) if old[line] != new[line]), most)
    last = next((line for line in range(most - first) if old[-1 - line] != new[-1 - line]), most - first)

    def there(span: Span) -> Span | None:
        if span.end_line <= first:
            return span
        if span.line <= len(old) - last:
            return None
        by = len(new) - len(old)
        return Span(span.line + by, span.column, span.end_line + by, span.end_column)

    for finding in findings:
        if (span := there(finding.span)) is not None:
            yield replace(finding, span=span, related=tuple(_related(finding, there)))


def _related(finding: Finding, there: Callable[[Span], Span | None]) -> Iterator[Related]:
    """Where the places stand that belong to a finding; those of its file on lines that changed are left out."""
    for one in finding.related:
        if one.path != finding.path:
            yield one
        elif (span := there(one.span)) is not None:
            yield replace(one, span=span)
