"""The report for people: each finding with its code, what to write instead, and a closing summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tritonaudit.finding import Audit, Finding, Severity, Span, Status
from tritonaudit.report.about import About
from tritonaudit.report.escape import visible
from tritonaudit.report.frame import Row, frame
from tritonaudit.report.known import known_mark
from tritonaudit.report.section import Line, Section
from tritonaudit.report.shortfall import incomplete, not_analysed_lines, shortfall_lines
from tritonaudit.report.sources import Sources

_SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_INDENT = "  "


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """The report; its plain form is the coloured one without the escape sequences."""
    return "".join(_paint(line) if color else _plain(line) for line in _lines(audit, sections, about))


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line) + "\n"


def _paint(line: Line) -> str:
    # Piece by piece rather than through a rich console, which would wrap lines and read markup.
    from rich.color import ColorSystem
    from rich.style import Style

    return "".join(Style.parse(style).render(text, color_system=ColorSystem.STANDARD) for text, style in line) + "\n"


def _lines(audit: Audit, sections: Sequence[Section], about: About) -> Iterator[Line]:
    for section in sections:
        yield from section.lines()
    sources = Sources(audit.texts)
    for finding in audit.findings:
        lines = _finding(finding, sources.lines(finding))
        yield from map(_dimmed, lines) if finding.in_baseline else lines
        yield ()
    shortfall = shortfall_lines(audit)
    yield from (((line, "red"),) for line in shortfall)
    if about.is_brief:
        return
    if shortfall:
        yield ()
    yield ((summary(audit), "bold"),)


def _finding(finding: Finding, source: list[str]) -> Iterator[Line]:
    yield _header(finding)
    yield ((f"{_INDENT}{visible(finding.message)}", ""),)
    if rows := frame(source, finding.span):
        yield ()
        yield from _frame(rows, _SEVERITY_STYLES[finding.severity])
    if notes := list(_notes(finding)):
        yield ()
        yield from notes


def _dimmed(line: Line) -> Line:
    return tuple((text, "dim") for text, _ in line)


def _header(finding: Finding) -> Line:
    kernel = f" in {visible(finding.kernel)}" if finding.kernel else ""
    return (
        (_place(finding.path, finding.span), "bold"),
        (": ", ""),
        (finding.code, _SEVERITY_STYLES[finding.severity]),
        (f" {visible(finding.name)} [", ""),
        (finding.severity.value, _SEVERITY_STYLES[finding.severity]),
        (f", {finding.confidence.value} confidence]", ""),
        (kernel, "dim"),
        (known_mark(finding), "dim"),
    )


def _place(path: str, span: Span) -> str:
    return f"{visible(path)}:{span.shown_start}"


def _frame(rows: tuple[Row, ...], mark_style: str) -> Iterator[Line]:
    width = max(len(str(row.number)) for row in rows if row.number is not None)
    for row in rows:
        number = "" if row.number is None else str(row.number)
        gutter = f"{_INDENT}{number:>{width}} |"
        text = f" {row.text}" if row.text else ""
        yield (gutter, "blue"), (text, mark_style if row.is_marks else "")


def _notes(finding: Finding) -> Iterator[Line]:
    if finding.remedy:
        yield _note("help", "bold green", finding.remedy)
    if finding.fix:
        kind = "safe" if finding.fix.safe else "unsafe"
        yield _note("fix", "bold green", f"{finding.fix.message} ({kind})")
    for related in finding.related:
        place = _place(related.path, related.span)
        yield _note("note", "bold cyan", f"{place}: {related.message}")
    if finding.witness:
        yield _note("witness", "bold magenta", finding.witness.description)
        if finding.witness.command:
            yield ((f"{_INDENT}  $ {visible(finding.witness.command)}", ""),)


def _note(label: str, style: str, text: str) -> Line:
    return (_INDENT, ""), (f"{label}:", style), (f" {visible(text)}", "")


def summary(audit: Audit) -> str:
    """One line: the findings by severity, what was looked at, what can be fixed, and what could not be analysed."""
    if audit.findings:
        places = len({finding.path for finding in audit.findings})
        found = (
            f"Found {_count(len(audit.findings), 'finding')} ({_by_severity(audit)}) in {places} of {_checked(audit)}"
        )
    else:
        found = _nothing_found(audit)
    return " ".join([*done(audit), found]) + _not_new(audit) + _fixable(audit) + _missed(audit)


def done(audit: Audit) -> list[str]:
    """`Fixed 2 findings.`; nothing where no file was changed."""
    counts = (("Fixed", audit.fixed), ("Suppressed", audit.suppressed))
    return [f"{verb} {_count(count, 'finding')}." for verb, count in counts if count]


def _checked(audit: Audit, unread: int = 0) -> str:
    return f"{_count(audit.files - unread, 'file')}, {_count(audit.kernels, 'kernel')}."


_UNKNOWN = (Status.NOT_RUN, Status.INCOMPLETE)


def _nothing_found(audit: Audit) -> str:
    """That there are no findings is said only of what was looked at."""
    read = audit.files - audit.unread
    if audit.kernels or any(outcome.status not in _UNKNOWN for outcome in audit.outcomes):
        return f"No findings in {_checked(audit, audit.unread)}"
    if not read:
        return "Nothing was checked."
    analysed = "No kernel was analysed" if not_analysed_lines(audit) or incomplete(audit) else "No kernels found"
    return f"{analysed} in {_count(read, 'file')}."


def _not_new(audit: Audit) -> str:
    known = audit.known + sum(bool(finding.in_baseline) for finding in audit.findings)
    counts = ((known, "in the baseline"), (audit.earlier, "in the earlier revision"))
    return "".join(f" {count} {where}." for count, where in counts if count)


def _fixable(audit: Audit) -> str:
    fixes = Counter(finding.fix.safe for finding in audit.findings if finding.fix)
    parts = [f"{fixes[True]} with --fix"] if fixes[True] else []
    parts += [f"{fixes[False]} {'more ' if parts else ''}with --unsafe-fixes"] if fixes[False] else []
    return f" Fixable: {', '.join(parts)}." if parts else ""


def _by_severity(audit: Audit) -> str:
    counts = Counter(finding.severity for finding in audit.findings)
    parts = {
        Severity.ERROR: _count(counts[Severity.ERROR], "error"),
        Severity.WARNING: _count(counts[Severity.WARNING], "warning"),
        Severity.INFO: f"{counts[Severity.INFO]} info",
    }
    return ", ".join(part for severity, part in parts.items() if counts[severity])


def _missed(audit: Audit) -> str:
    problems, skipped = len(audit.problems), len(not_analysed_lines(audit))
    parts = [f"{_count(audit.unread, 'file')} not read"] * bool(audit.unread)
    parts += [_count(problems, "problem")] * bool(problems) + [f"{skipped} not analysed"] * bool(skipped)
    return f" {', '.join(parts)}." if parts else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
