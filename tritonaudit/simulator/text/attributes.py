"""Attributes as values: numbers, booleans, strings, constants and tuples of these."""

from __future__ import annotations

import re
from typing import Any

from tritonaudit.simulator.ir import Constant, Type
from tritonaudit.simulator.text.numbers import dense, number
from tritonaudit.simulator.text.tokens import Tokens, unquoted
from tritonaudit.simulator.text.types import read_type

_NUMBER = re.compile(r"-?\d.*")


def read_attributes(tokens: Tokens, closing: str = "}") -> dict[str, Any]:
    """Those up to the closing brace, which the cursor goes past; one without a value is True."""
    found: dict[str, Any] = {}
    while not tokens.accept(closing):
        name = tokens.take()
        name = unquoted(name) if name[0] == '"' else name
        found[name] = read_attribute(tokens) if tokens.accept("=") else True
        tokens.accept(",")
    return found


def read_attribute(tokens: Tokens) -> Any:
    """The attribute at the cursor.

    A name stands for itself, an attribute of a dialect (`#tt.name<content>`) for its content.
    """
    token = tokens.current
    if token in ("true", "false"):
        return tokens.take() == "true"
    if token == "dense" or _NUMBER.match(token):
        constant, _ = read_constant(tokens)
        return constant if token == "dense" else constant.elements[0]
    tokens.take()
    if token[0] == '"':
        return unquoted(token)
    if token[0] == "@":
        return symbol(token)
    if token == "array":
        return _array(tokens)
    if token == "[":
        return _list(tokens)
    if token == "{":
        return tuple(read_attributes(tokens).items())
    if token[0] in "#!" or token[0].isalpha():
        return tokens.take()[1:-1] if tokens.current[:1] == "<" else token
    return tokens.fail(f"`{token}` is not a known attribute")


def read_constant(tokens: Tokens) -> tuple[Constant, Type]:
    """`true`, `1 : i32`, `0x7F800000 : f32` or `dense<...> : tensor<...>`; a number alone is an i64 or f64."""
    written = tokens.take()
    if written in ("true", "false"):
        return Constant((int(written == "true"),)), Type("i1")
    content = tokens.take() if written == "dense" else ""
    if content or tokens.current == ":":
        tokens.expect(":")
        type = read_type(tokens)
    else:
        type = Type("f64" if "." in written else "i64")
    try:
        return dense(content[1:-1], type) if content else Constant((number(written, type.element),)), type
    except ValueError:
        tokens.fail(f"`{content or written}` is not a constant of the type {type.element}")


def symbol(token: str) -> str:
    """A symbol's name without its `@`."""
    return unquoted(token[1:]) if token[1:2] == '"' else token[1:]


def _array(tokens: Tokens) -> tuple[int | float | bool, ...]:
    element, _, items = tokens.take()[1:-1].partition(":")
    try:
        found = tuple(number(item.strip(), element) for item in items.split(",") if item.strip())
    except ValueError:
        tokens.fail(f"`array<{element}:{items}>` has what is not a number")
    return tuple(map(bool, found)) if element == "i1" else found


def _list(tokens: Tokens) -> tuple[Any, ...]:
    found = []
    while not tokens.accept("]"):
        found.append(read_attribute(tokens))
        tokens.accept(",")
    return tuple(found)
