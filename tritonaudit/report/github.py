"""GitHub Actions workflow commands, which become annotations of a pull request's lines."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.finding import Audit, Finding, Problem, Severity, Span
from tritonaudit.report.about import About
from tritonaudit.report.escape import visible
from tritonaudit.report.from_root import from_root, rooted
from tritonaudit.report.known import known_mark
from tritonaudit.report.section import Note, Section
from tritonaudit.report.sources import Sources, in_cell

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """One command a line: findings, then problems, then what the sections note."""
    audit = from_root(audit, about.here)
    notes = (_note(note, about.here) for section in sections for note in section.notes())
    sources = Sources(audit.texts)
    findings = (_finding(finding, sources) for finding in audit.findings)
    return "".join([*findings, *map(_problem, audit.problems), *notes])


def _finding(finding: Finding, sources: Sources) -> str:
    """What GitHub shows of a notebook is its file, so that the line is one of its JSON; the text says the cell."""
    title = f"{finding.code} {finding.name}{known_mark(finding)}"
    text = in_cell(finding.span.line, finding.span.cell) + visible(finding.message)
    if finding.remedy:
        text += f"\nhelp: {visible(finding.remedy)}"
    return _command(
        _COMMANDS[finding.severity], finding.path, _lines(sources.in_file(finding.path, finding.span)), title, text
    )


def _lines(span: Span) -> dict[str, int]:
    if span.line == span.end_line:
        return {"line": span.line, "col": span.column, "endLine": span.end_line, "endColumn": span.end_column}
    # The runner refuses columns in an annotation of several lines.
    return {"line": span.line, "endLine": span.end_line}


def _problem(problem: Problem) -> str:
    line = {} if problem.line is None or problem.cell is not None else {"line": problem.line}
    text = in_cell(problem.line, problem.cell) + visible(problem.full_message)
    return _command("error", problem.path if problem.in_file else None, line, "problem", text)


def _note(note: Note, here: str) -> str:
    return _command("notice", rooted(note.path, here), {"line": note.line}, note.title, visible(note.text))


def _command(name: str, path: str | None, lines: dict[str, int], title: str, text: str) -> str:
    properties = {**({} if path is None else {"file": path}), **lines, "title": title}
    listed = ",".join(f"{key}={_property(visible(str(value)))}" for key, value in properties.items())
    return f"::{name} {listed}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
