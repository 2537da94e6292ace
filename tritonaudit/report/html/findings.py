"""The findings one by one, by category, the worst first, each rule explained where it is first met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.finding import Category, Finding
from tritonaudit.report.evidence import Evidence, by_impact, level, place
from tritonaudit.report.frame import Row, frame
from tritonaudit.report.html.badge import badge_of_level
from tritonaudit.report.html.markup import Content, Markup, element, joined, lines, prose
from tritonaudit.report.html.rule_page import rule_page
from tritonaudit.report.known import known_mark
from tritonaudit.report.sources import Sources
from tritonaudit.report.words import Code


def findings(evidence: Evidence) -> Iterator[Markup]:
    if not evidence.audit.findings:
        yield element("p", "No findings. The summary says what was not run.")
        return
    sources = Sources(evidence.audit.texts)
    explained: set[str] = set()
    for category in Category:
        found = by_impact(finding for finding in evidence.audit.findings if finding.category is category)
        if found:
            yield element("h3", category.title)
        for finding in found:
            yield _finding(finding, sources.lines(finding), is_first=finding.code not in explained)
            explained.add(finding.code)


def _finding(finding: Finding, source: Sequence[str], *, is_first: bool) -> Markup:
    title = joined(badge_of_level(level(finding)), " ", Code(finding.code), f" {finding.name}")
    return element(
        "article",
        lines(
            element("h4", title),
            element("p", prose(finding.message), class_="message"),
            *_frame(finding, source),
            element("dl", lines(*_facts(finding))),
            *_explanation(finding, is_first),
        ),
        class_=f"finding {level(finding).lower()}",
    )


def _frame(finding: Finding, source: Sequence[str]) -> Iterator[Markup]:
    rows = [row for row in frame(source, finding.span) if not row.is_marks]
    if not rows:
        return
    width = max(len(str(row.number)) for row in rows if row.number is not None)
    code = element("pre", element("code", joined(*(_row(row, width) for row in rows), by="\n")), tabindex="0")
    yield element("figure", element("figcaption", Code(place(finding))), code, class_="frame")


def _row(row: Row, width: int) -> Markup:
    number = element("span", f"{'' if row.number is None else row.number:>{width}} ", class_="number")
    if row.marked is None:
        return joined(number, row.text)
    first, past = row.marked
    marked = row.text[first:past] or " "
    return joined(number, row.text[:first], element("mark", marked), row.text[past:])


def _facts(finding: Finding) -> Iterator[Markup]:
    sure = "" if finding.confidence.rank == 0 else f" ({finding.confidence.value} confidence)"
    kernel: tuple[Content, ...] = (" in ", Code(finding.kernel)) if finding.kernel else ()
    yield _fact("Where", Code(place(finding)), *kernel, sure, known_mark(finding))
    for related in finding.related:
        yield _fact("See", Code(f"{related.path}:{related.span.shown_line}"), ": ", prose(related.message))
    if finding.witness:
        yield _fact("Witness", prose(finding.witness.description))
        if finding.witness.command:
            yield _fact("Run", element("code", finding.witness.command, class_="command"))
    if finding.remedy:
        yield _fact("Remedy", prose(finding.remedy))


def _fact(name: str, *content: Content) -> Markup:
    return element("div", element("dt", name), element("dd", *content))


def _explanation(finding: Finding, is_first: bool) -> Iterator[Markup]:
    page = rule_page(finding.code)
    if page is None:
        return
    anchor = f"rule-{finding.code}"
    if is_first:
        yield element("details", element("summary", f"What {finding.code} is about"), page, id=anchor, class_="page")
    else:
        yield element("p", element("a", f"What {finding.code} is about", href=f"#{anchor}"))
