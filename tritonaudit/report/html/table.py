"""Tables: a heading for readers, a head row, and rows of cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tritonaudit.report.html.markup import Content, Markup, element, lines


def table(caption: str, heads: Sequence[Content], rows: Iterable[Sequence[Content]], class_: str = "") -> Markup:
    """A table that scrolls by itself where it is wider than the page. The first cell of a row is its heading."""
    head = element("tr", *(element("th", one, scope="col") for one in heads))
    body = (
        element("tr", element("th", first, scope="row"), *(element("td", one) for one in rest)) for first, *rest in rows
    )
    whole = element(
        "table",
        element("caption", caption),
        element("thead", head),
        lines(element("tbody", lines(*body))),
        class_=class_ or None,
    )
    return scrolling(caption, whole)


def scrolling(label: str, content: Markup) -> Markup:
    """Content that the keyboard can scroll, too."""
    return element("div", content, class_="scrolling", role="group", tabindex="0", aria_label=label)
