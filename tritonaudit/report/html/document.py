"""The page around the report: one file that fetches nothing, whose style and script are allowed by their hashes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from tritonaudit.report.html.markup import Content, Markup, element, joined, lines

_SCHEMES = (("auto", "Auto"), ("light", "Light"), ("dark", "Dark"))


@dataclass(frozen=True)
class Part:
    """A part of the report under a heading; `anchor` is its id, `short` what the list of contents calls it.

    One with no content is a line that says why there is `nothing`.
    """

    anchor: str
    heading: Content
    short: str
    content: Sequence[Markup]
    nothing: Content = ""


def document(title: str, header: Markup, parts: Sequence[Part]) -> str:
    """The whole file."""
    page = element("html", lines(_head(title), _body(title, header, parts)), lang="en")
    return f"<!DOCTYPE html>\n{page.source}\n"


def _head(title: str) -> Markup:
    style, script = (_asset(name) for name in ("style.css", "script.js"))
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )
    return element(
        "head",
        lines(
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("meta", name="referrer", content="no-referrer"),
            element("link", rel="icon", href="data:,"),
            element("title", title),
            element("style", Markup(style)),
            element("script", Markup(script)),
        ),
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _body(title: str, header: Markup, parts: Sequence[Part]) -> Markup:
    contents = (element("li", element("a", part.short, href=f"#{part.anchor}")) for part in parts)
    return element(
        "body",
        lines(
            element("a", "Skip to the summary", href=f"#{parts[0].anchor}", class_="skip"),
            element("header", lines(element("h1", title), _schemes(), header)),
            element("nav", element("ul", lines(*contents)), aria_label="Contents"),
            element("main", lines(*map(_section, parts))),
        ),
    )


def _section(part: Part) -> Markup:
    heading = element("h2", part.heading, id=f"{part.anchor}-heading")
    content = part.content or (element("p", part.nothing),)
    return element(
        "section",
        lines(heading, *content),
        id=part.anchor,
        class_=None if part.content else "nothing",
        aria_labelledby=f"{part.anchor}-heading",
    )


def _schemes() -> Markup:
    """The switch between light and dark, which works by style alone; the script remembers it."""
    choices = (
        element(
            "label",
            element("input", type="radio", name="scheme", value=value, id=f"scheme-{value}", checked=value == "auto"),
            joined(" ", name),
        )
        for value, name in _SCHEMES
    )
    return element("fieldset", element("legend", "Colours"), *choices, class_="schemes")
