"""HTML put together from elements, so that text of users cannot become markup: what is no `Markup` is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.report.escape import visible
from tritonaudit.report.words import CODE_SPAN, Code, Words


@dataclass(frozen=True)
class Markup:
    """HTML as it is written into the page."""

    source: str


Content = Markup | str | Code | Words
"""What an element holds: markup, or text, which is escaped. `Words` show their code as code."""

_VOID = frozenset(("circle", "input", "line", "link", "meta", "path", "polygon", "polyline", "rect"))


def element(name: str, /, *content: Content, **attributes: str | float | bool | None) -> Markup:
    """An element of HTML or SVG.

    An attribute that is None or False is left out, one that is True has no value. Python's `class_` and `for_` are
    `class` and `for`, and other underscores are hyphens.
    """
    start = f"<{name}{''.join(_attributes(attributes))}>"
    if name in _VOID and not content:
        return Markup(start if name in ("input", "link", "meta") else f"{start[:-1]}/>")
    return Markup(f"{start}{joined(*content).source}</{name}>")


def joined(*content: Content, by: str = "") -> Markup:
    """Contents one after the other."""
    return Markup(by.join(_written(one) for one in content))


def lines(*content: Content) -> Markup:
    """Contents, each on a line of the file."""
    return joined(*content, by="\n")


def prose(text: str) -> Markup:
    """Text whose `code` is code."""
    return joined(*_pieces(text))


def escaped(text: str) -> str:
    """Text as it stands between tags and in quoted attributes; no character of it is invisible or moves others."""
    return html.escape(visible(text))


def _written(content: Content) -> str:
    match content:
        case Markup():
            return content.source
        case str():
            return escaped(content)
        case Code():
            return element("code", content.text).source
        case tuple():
            return "".join(_written(piece if isinstance(piece, Code) else prose(piece)) for piece in content)


def _pieces(text: str) -> Iterator[str | Code]:
    end = 0
    for span in CODE_SPAN.finditer(text):
        yield text[end : span.start()]
        yield Code(_unpadded(span[2]))
        end = span.end()
    yield text[end:]


def _unpadded(code: str) -> str:
    """Without the spaces that keep ticks apart from those around them."""
    return code[1:-1] if code.startswith(" ") and code.endswith(" ") and code.strip() else code


def _attributes(attributes: dict[str, str | float | bool | None]) -> Iterator[str]:
    for name, value in attributes.items():
        written = name.rstrip("_").replace("_", "-")
        if value is True:
            yield f" {written}"
        elif value is not None and value is not False:
            yield f' {written}="{escaped(_number(value) if isinstance(value, float) else str(value))}"'


def _number(value: float) -> str:
    """As short as a place in a picture need be."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
