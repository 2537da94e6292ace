"""Reads the printed TTIR of Triton 3.2 to 3.9."""

from __future__ import annotations

import re

from tritonaudit.simulator.ir import Function, Module
from tritonaudit.simulator.text.attributes import read_attributes, symbol
from tritonaudit.simulator.text.body import Body
from tritonaudit.simulator.text.locations import Locations
from tritonaudit.simulator.text.tokens import Tokens, UnsupportedText
from tritonaudit.simulator.text.types import read_type, read_types

__all__ = ["UnsupportedText", "parse_module"]

_OTHER_ALIAS = re.compile(r"^#\w+ = .*$", re.MULTILINE)  # hints to the compiler, of which the alias says enough
_MADE_UP = re.compile(r"%arg\d+")


def parse_module(text: str) -> Module:
    """The module in MLIR's pretty form with locations, as `str(module)` gives it.

    UnsupportedText says what is not understood and in which line of the text.
    """
    locations = Locations(text)
    tokens = Tokens(_OTHER_ALIAS.sub("", locations.rest))
    tokens.expect("module")
    if tokens.current[:1] == "@":
        tokens.take()
    if tokens.accept("attributes"):
        tokens.expect("{")
        read_attributes(tokens)
    tokens.expect("{")
    functions = []
    while not tokens.accept("}"):
        functions.append(_function(tokens, locations))
    tokens.expect("loc")
    locations.read(tokens)
    if tokens.current:
        tokens.fail(f"`{tokens.current}` behind the module is not understood")
    return Module(tuple(functions))


def _function(tokens: Tokens, locations: Locations) -> Function:
    tokens.expect("tt.func")
    is_public = tokens.accept("public")
    if not is_public:
        tokens.accept("private")
    name = symbol(tokens.take())
    body = Body(tokens, locations)
    arguments = _arguments(body)
    if tokens.accept("->"):
        read_types(tokens)
    if tokens.accept("attributes"):
        tokens.expect("{")
        read_attributes(tokens)
    tokens.expect("{")
    region = body.region(arguments)
    return Function(name, arguments, tuple(body.types), region, body.names, is_public, body.location())


def _arguments(body: Body) -> tuple[int, ...]:
    tokens = body.tokens
    tokens.expect("(")
    arguments: tuple[int, ...] = ()
    while not tokens.accept(")"):
        name = tokens.take()
        tokens.expect(":")
        (value,) = body.define(name, read_type(tokens))
        if tokens.accept("{"):
            read_attributes(tokens)
        if not _MADE_UP.fullmatch(name):
            body.names[value] = name[1:]
        body.name(value, body.location())
        arguments += (value,)
        tokens.accept(",")
    return arguments
