"""A finding: the source with what is found under its line, the fix as a diff, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Finding, Fix
from tritonaudit.report.diff import changes
from tritonaudit.report.evidence import level, place, rating
from tritonaudit.report.frame import Row, frame
from tritonaudit.report.html.badge import badge_of_level
from tritonaudit.report.html.markup import Content, Markup, element, joined, lines, prose
from tritonaudit.report.html.rule_page import rule_page
from tritonaudit.report.known import known_mark
from tritonaudit.report.sources import Sources
from tritonaudit.report.words import Code

_AROUND = 3
"""Lines of the source above and below what is found."""
_TAB = 4
_LONGEST = 200
"""Characters of a message that is shown in short."""


def in_full(finding: Finding, sources: Sources) -> Markup:
    """All that is known of it."""
    return _article(
        finding,
        element("h4", joined(*_rule(finding), finding.name, by=" ")),
        element("p", *_where(finding), class_="where"),
        *_found(finding, sources),
        *(_fix(finding, finding.fix, sources) if finding.fix else ()),
        *_facts(finding),
    )


def in_short(finding: Finding) -> Markup:
    """What and where it is, in one paragraph."""
    message = finding.message if len(finding.message) <= _LONGEST else f"{finding.message[:_LONGEST]}…"
    said = joined(*_rule(finding), Code(place(finding)), f"({rating(finding)})", prose(message), by=" ")
    return _article(finding, element("p", said))


def _article(finding: Finding, *content: Markup) -> Markup:
    return element("article", lines(*content), class_=f"finding {level(finding).lower()}")


def _rule(finding: Finding) -> tuple[Content, ...]:
    """How bad it is, and the rule, which leads to its page."""
    has_page = rule_page(finding.code) is not None
    rule = element("a", finding.code, href=f"#rule-{finding.code}") if has_page else finding.code
    return badge_of_level(level(finding)), rule


def _where(finding: Finding) -> Iterator[Content]:
    yield Code(place(finding))
    if finding.kernel:
        yield " in "
        yield Code(finding.kernel)
    yield f" ({rating(finding)}){known_mark(finding)}"


def _found(finding: Finding, sources: Sources) -> Iterator[Markup]:
    """The source, with the message under the last line that is marked."""
    rows = [row for row in frame(sources.lines(finding), finding.span, _AROUND) if not row.is_marks]
    message = element("p", prose(finding.message), class_="message")
    if not rows:
        yield message
        return
    width = max(len(str(row.number)) for row in rows if row.number is not None)
    past = 1 + max(number for number, row in enumerate(rows) if row.marked is not None)
    parts = (_code(rows[:past], width), message, *([_code(rows[past:], width)] if rows[past:] else []))
    yield element("div", *parts, class_="frame")


def _code(rows: list[Row], width: int) -> Markup:
    return element("pre", element("code", *(_row(row, width) for row in rows)))


def _row(row: Row, width: int) -> Markup:
    number = element("i", f"{'' if row.number is None else row.number:>{width}} ")
    if row.marked is None:
        return element("span", number, row.text, Markup("\n"))
    first, past = row.marked
    marked = element("mark", row.text[first:past] or " ")
    return element("span", number, row.text[:first], marked, row.text[past:], Markup("\n"))


def _fix(finding: Finding, fix: Fix, sources: Sources) -> Iterator[Markup]:
    said = "safe" if fix.safe else "unsafe: check what it changes"
    caption = element("figcaption", joined("Fix: ", prose(fix.message), f" ({said})"))
    found = changes(fix.edits, lambda cell: sources.lines_of(finding.path, cell))
    rows = [
        row
        for change in found
        for row in (
            element("i", f"line {change.line}", Markup("\n")),
            *(_changed("del", "-", line) for line in change.gone),
            *(_changed("ins", "+", line) for line in change.come),
        )
    ]
    diff = [element("pre", element("code", *rows))] if rows else []
    yield element("figure", caption, *diff, class_="fix")


def _changed(name: str, sign: str, line: str) -> Markup:
    return element(name, element("b", sign), line.expandtabs(_TAB), Markup("\n"))


def _facts(finding: Finding) -> Iterator[Markup]:
    facts = [
        _fact("See", Code(f"{related.path}:{related.span.shown_line}"), ": ", prose(related.message))
        for related in finding.related
    ]
    if finding.witness:
        facts.append(_fact("Witness", prose(finding.witness.description)))
        if finding.witness.command:
            facts.append(_fact("Run", element("code", finding.witness.command, class_="command")))
    if finding.remedy:
        facts.append(_fact("Remedy", prose(finding.remedy)))
    if facts:
        yield element("dl", lines(*facts))


def _fact(name: str, *content: Content) -> Markup:
    return element("div", element("dt", name), element("dd", *content))
