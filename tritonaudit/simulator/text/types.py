"""TTIR's types, read from their text."""

from __future__ import annotations

import re
from functools import lru_cache

from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.text.tokens import Tokens

_SCALAR = re.compile(r"[su]?i\d+|index|bf16|f\d+(?:E\d+M\d+\w*)?")
_UNSIGNED = re.compile(r"xui\d")
_DIMENSIONS = re.compile(r"(?:\d+x)*")


def read_type(tokens: Tokens) -> Type:
    """The type at the cursor; one between angle brackets alone is what a pointer points to."""
    if tokens.current[:1] == "<":
        return type_after("!tt.ptr", tokens)
    if tokens.following[:1] == "<":
        return type_after(tokens.take(), tokens)
    found = type_of(tokens.current, tokens)
    tokens.take()
    return found


def type_of(text: str, tokens: Tokens) -> Type:
    """The type that a text at the cursor stands for."""
    found = _type(text)
    if found is None:
        tokens.fail(f"`{text}` is not a known type")
    return found


def type_after(keyword: str, tokens: Tokens) -> Type:
    """The type of which only what is between angle brackets stands at the cursor."""
    found = type_of(keyword + tokens.current, tokens)
    tokens.take()
    return found


def is_unsigned(tokens: Tokens) -> bool:
    """Whether the tensor descriptor whose type is at the cursor has unsigned elements (`ui8`).

    Integers have no sign elsewhere, and so they have none in `Type`.
    """
    return _UNSIGNED.search(tokens.following) is not None


def read_types(tokens: Tokens) -> list[Type]:
    """Types with `,` or `*` between them, in parentheses or not, which may be empty."""
    enclosed = tokens.accept("(")
    if enclosed and tokens.accept(")"):
        return []
    types = [read_type(tokens)]
    while tokens.accept(",") or tokens.accept("*"):
        types.append(read_type(tokens))
    if enclosed:
        tokens.expect(")")
    return types


@lru_cache(maxsize=4096)
def _type(text: str) -> Type | None:
    keyword, bracket, rest = text.partition("<")
    if not bracket:
        return Type(text.lstrip("su")) if _SCALAR.fullmatch(text) else None
    content = _before_comma(rest[:-1])
    if keyword == "tensor":
        return _shaped(content)
    pointee = _shaped(content) if content[:1].isdigit() else _type(content)
    element = {"!tt.ptr": "ptr", "!tt.tensordesc": "desc"}.get(keyword)
    return Type(element, (), pointee) if element and pointee else None


def _shaped(content: str) -> Type | None:
    dimensions = _DIMENSIONS.match(content)
    assert dimensions is not None
    element = _type(content[dimensions.end() :])
    if element is None or element.shape:
        return None
    return Type(element.element, tuple(map(int, dimensions[0].split("x")[:-1])), element.pointee)


def _before_comma(text: str) -> str:
    """What stands before the first comma outside of brackets: a layout or an address space follows it."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character in "<[(") - (character in ">])")
        if character == "," and depth == 0:
            return text[:position]
    return text
