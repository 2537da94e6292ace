"""The findings one by one, by category, the worst first."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Category, Finding
from tritonaudit.report.evidence import Evidence, by_impact, level, place, rating
from tritonaudit.report.frame import frame
from tritonaudit.report.known import known_mark
from tritonaudit.report.markdown.text import code, fenced, prose
from tritonaudit.report.sources import Sources


def details(evidence: Evidence) -> Iterator[str]:
    if not evidence.audit.findings:
        yield "No findings. The summary says what was not run."
        return
    sources = Sources(evidence.audit.texts)
    is_first = True
    for category in Category:
        findings = by_impact(finding for finding in evidence.audit.findings if finding.category is category)
        if not findings:
            continue
        if not is_first:
            yield ""
        is_first = False
        yield f"### {category.title}"
        for number, finding in enumerate(findings, 1):
            yield ""
            yield from _finding(number, finding, sources.lines(finding))


def _finding(number: int, finding: Finding, source: list[str]) -> Iterator[str]:
    indent = " " * len(f"{number}. ")
    yield f"{number}. **[{level(finding)}]** {finding.code} {prose(finding.name)}: {prose(finding.message)}"
    yield ""
    kernel = f" in {code(finding.kernel)}" if finding.kernel else ""
    yield f"{indent}* Where: {code(place(finding))}{kernel} ({rating(finding)}){known_mark(finding)}"
    for related in finding.related:
        yield f"{indent}* See {code(f'{related.path}:{related.span.shown_line}')}: {prose(related.message)}"
    if finding.witness:
        command = f": {code(finding.witness.command)}" if finding.witness.command else ""
        yield f"{indent}* Witness: {prose(finding.witness.description)}{command}"
    if finding.remedy:
        yield f"{indent}* Remedy: {prose(finding.remedy)}"
    if rows := frame(source, finding.span):
        width = max(len(str(row.number)) for row in rows if row.number is not None)
        lines = [f"{'' if row.number is None else row.number:>{width}} | {row.text}" for row in rows]
        yield ""
        yield from fenced(lines, "text", indent)
