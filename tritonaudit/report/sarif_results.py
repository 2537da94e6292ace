"""Findings as SARIF results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import sarif_om as om

from tritonaudit.finding import Edit, Finding, Fix, Related, Span
from tritonaudit.report.escape import visible
from tritonaudit.report.line_hash import line_hashes
from tritonaudit.report.sarif_rules import LEVELS
from tritonaudit.report.sources import Sources, in_cell

ROOT = "%SRCROOT%"
"""What GitHub calls the root of the checkout."""
MOST_RELATED = 999
"""GitHub takes 1,000 locations in a result, and the finding's own is one."""


class Source:
    """A file's text as results need it, worked out once; without a text nothing is known of its lines."""

    def __init__(self, text: str | None) -> None:
        self._text = text

    @cached_property
    def _lines(self) -> list[str]:
        return [] if self._text is None else self._text.split("\n")

    @cached_property
    def _hashes(self) -> list[str]:
        return [] if self._text is None else line_hashes(self._text)

    def end_column(self, line: int) -> int:
        """The column after the line's last character; 1 where there is no such line."""
        return len(self._lines[line - 1]) + 1 if 1 <= line <= len(self._lines) else 1

    def line_hash(self, line: int) -> str | None:
        """The line's hash, None where there is no such line."""
        return self._hashes[line - 1] if 1 <= line <= len(self._hashes) else None


def result(finding: Finding, rule_indices: Mapping[str, int], source: Source, places: Sources) -> om.Result:
    """The finding at one line: GitHub shows an alert on a pull request only if all its lines were changed.

    Of a notebook that is a line of its file, which is JSON; the message and a logical location say the cell.
    """
    span = places.in_file(finding.path, finding.span)
    related = finding.related[:MOST_RELATED]
    return om.Result(
        rule_id=finding.code,
        rule_index=rule_indices.get(finding.code, -1),
        level=LEVELS[finding.severity],
        message=om.Message(text=_message(finding, related)),
        locations=[_location(finding, span, source)],
        related_locations=[_related(number, place, places) for number, place in enumerate(related, 1)] or None,
        code_flows=[_flow(finding, span, source, places)] if finding.way else None,
        partial_fingerprints=_fingerprints(finding, span, source),
        fixes=None if finding.fix is None else [_fix(finding.path, finding.fix, places)],
        baseline_state=None if finding.in_baseline is None else "unchanged" if finding.in_baseline else "new",
        properties={"confidence": finding.confidence.value},
    )


def physical_location(path: str, region: om.Region | None = None) -> om.PhysicalLocation:
    """A place in a file."""
    return om.PhysicalLocation(artifact_location=_artifact_location(path), region=region)


def _artifact_location(path: str) -> om.ArtifactLocation:
    """A file; a relative path counts from the root of the checkout."""
    beneath_root = not path.startswith("/") and ".." not in path.split("/")
    return om.ArtifactLocation(uri=_uri(path), uri_base_id=ROOT if beneath_root else None)


def folder_location(folder: Path) -> om.ArtifactLocation:
    """A folder, by its whole path."""
    return om.ArtifactLocation(uri=f"{_uri(str(folder)).rstrip('/')}/")


def _uri(path: str) -> str:
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte of a file's name
        raw = path.encode("utf-8", "surrogatepass")
    return ("file://" if path.startswith("/") else "") + quote(raw)


def _message(finding: Finding, related: tuple[Related, ...]) -> str:
    parts = [in_cell(finding.span.line, finding.span.cell) + _prose(finding.message)]
    if finding.remedy:
        parts.append(_prose(finding.remedy))
    if finding.witness:
        command = f" ({finding.witness.command})" if finding.witness.command else ""
        parts.append(_prose(f"Witness: {finding.witness.description}{command}"))
    if related:
        links = (f"[{_link_text(place.message)}]({number})" for number, place in enumerate(related, 1))
        parts.append(f"See {', '.join(links)}.")
    return "\n".join(parts)


def _prose(text: str) -> str:
    """Text that cannot be taken for a link; brackets that form none stay as they are, so `x[:, None]` reads well."""
    shown = visible(text)
    return _link_text(text) if "](" in shown else shown


def _link_text(text: str) -> str:
    return visible(text).replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")


def _location(finding: Finding, span: Span, source: Source) -> om.Location:
    location = om.Location(physical_location=physical_location(finding.path, _first_line(span, source)))
    kernel = [om.LogicalLocation(name=visible(finding.kernel), kind="function")] if finding.kernel else []
    location.logical_locations = [*kernel, *_cell(finding.span)] or None
    return location


def _cell(span: Span) -> list[om.LogicalLocation]:
    return [] if span.cell is None else [om.LogicalLocation(name=f"cell {span.cell}", kind="module")]


def _first_line(span: Span, source: Source) -> om.Region:
    """The part of the span that lies in its first line, at least one character wide."""
    end = span.end_column if span.end_line == span.line else source.end_column(span.line)
    return om.Region(
        start_line=span.line,
        start_column=span.column,
        end_line=span.line,
        end_column=max(end, span.column + 1),
    )


def _flow(finding: Finding, span: Span, source: Source, places: Sources) -> om.CodeFlow:
    """The way from the launch to the finding, which ends it."""
    steps = [_place(step, places) for step in finding.way]
    end = physical_location(finding.path, _first_line(span, source))
    steps.append(om.Location(physical_location=end, message=om.Message(text=_prose(finding.message))))
    return om.CodeFlow(thread_flows=[om.ThreadFlow(locations=[om.ThreadFlowLocation(location=step) for step in steps])])


def _related(number: int, related: Related, places: Sources) -> om.Location:
    location = _place(related, places)
    location.id = number
    return location


def _place(related: Related, places: Sources) -> om.Location:
    return om.Location(
        physical_location=physical_location(related.path, _region(places.in_file(related.path, related.span))),
        message=om.Message(text=in_cell(related.span.line, related.span.cell) + _prose(related.message)),
    )


def _region(span: Span) -> om.Region:
    return om.Region(
        start_line=span.line,
        start_column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
    )


def _fix(path: str, fix: Fix, places: Sources) -> om.Fix:
    """The edits; that a fix is unsafe stands in its description, for SARIF has no field for it."""
    text = fix.message if fix.safe else f"{fix.message} (unsafe: check what it changes)"
    change = om.ArtifactChange(
        artifact_location=_artifact_location(path),
        replacements=[_replacement(places.edit_in_file(path, edit)) for edit in fix.edits],
    )
    return om.Fix(artifact_changes=[change], description=om.Message(text=visible(text)))


def _replacement(edit: Edit) -> om.Replacement:
    return om.Replacement(deleted_region=_region(edit.span), inserted_content=om.ArtifactContent(text=edit.replacement))


def _fingerprints(finding: Finding, span: Span, source: Source) -> dict[str, str]:
    fingerprints = {"tritonaudit/v1": finding.fingerprint}
    if line_hash := source.line_hash(span.line):
        fingerprints["primaryLocationLineHash"] = line_hash
    return fingerprints
