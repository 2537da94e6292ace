"""The page of a rule as HTML."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt

from tritonaudit.report.escape import visible
from tritonaudit.report.html.markup import Markup
from tritonaudit.rule import Rule
from tritonaudit.rules import all_rules

_DEEPER = 2
"""By how many levels the headings of a page lie below those of the report."""


@cache
def rule_page(code: str) -> Markup | None:
    """What the rule's page says below its title; None where no rule of that code, or none with a page, is installed."""
    rule = next((rule for rule in all_rules() if rule.code == code), None)
    page = _page(rule) if rule is not None else ""
    return Markup(_rendered(page)) if page else None


def _page(rule: type[Rule]) -> str:
    """Empty where there is none: a rule from elsewhere that lacks a page must not cost the report."""
    try:
        return rule.page()
    except OSError:
        return ""


def _rendered(page: str) -> str:
    # HTML in a page is text, and an image would be fetched.
    markdown = MarkdownIt("commonmark", {"html": False}).disable("image")
    tokens = markdown.parse("\n".join(map(visible, page.split("\n"))))
    if [token.type for token in tokens[:3]] == ["heading_open", "inline", "heading_close"] and tokens[0].tag == "h1":
        del tokens[:3]
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + _DEEPER, 6)}"
    return str(markdown.renderer.render(tokens, markdown.options, {})).strip()
