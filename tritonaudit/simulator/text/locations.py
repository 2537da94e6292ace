"""Where operations stand: `loc(...)`, whose aliases are defined anywhere in the text."""

from __future__ import annotations

import re

from tritonaudit.simulator.ir import Location
from tritonaudit.simulator.text.tokens import Tokens, UnsupportedText, unquoted

_DEFINITION = re.compile(r"^(#loc\d*) = loc(\(.*\))$", re.MULTILINE)


_PLAIN = re.compile(r'\("([^"\\]*)"(?::(\d+):(\d+)|\((#loc\d*)\))\)')
_CALL = re.compile(r"\(callsite\((#loc\d*) at (#loc\d*)\)\)")


class Locations:
    """The aliases of a text, each resolved when it is first asked for."""

    def __init__(self, text: str) -> None:
        self.rest = _DEFINITION.sub("", text)
        """The text without the aliases' definitions, with the same lines."""
        self._definitions: dict[str, str] = dict(_DEFINITION.findall(text))
        self._known: dict[str, Location | None] = {}

    def read(self, tokens: Tokens) -> Location | None:
        """What stands behind `loc` at the cursor, in parentheses; None if that is no place in a file."""
        tokens.expect("(")
        found = self._place(tokens)
        tokens.expect(")")
        return found

    def _place(self, tokens: Tokens) -> Location | None:
        token = tokens.take()
        if token[0] == "#":
            return self.alias(token, tokens)
        if token[0] == '"':
            return self._file_or_name(unquoted(token), tokens)
        if token == "callsite":
            return self._call(tokens)
        if token == "fused":
            return self._fused(tokens)
        if token != "unknown":
            tokens.fail(f"`{token}` is not a known location")
        return None

    def alias(self, alias: str, tokens: Tokens) -> Location | None:
        """What an alias at the cursor stands for."""
        if alias not in self._known:
            if alias not in self._definitions:
                tokens.fail(f"the location `{alias}` is not defined")
            self._known[alias] = None  # while it is resolved, should it lead to itself
            try:
                self._known[alias] = self._defined(self._definitions[alias], tokens)
            except UnsupportedText as error:
                tokens.fail(f"`{alias}`: {error.message}")
        return self._known[alias]

    def _defined(self, text: str, tokens: Tokens) -> Location | None:
        """What a definition says, of whose forms there are shorter ways to read the most frequent."""
        if (plain := _PLAIN.fullmatch(text)) is not None:
            name, line, column, inner = plain.groups()
            if inner is None:
                return Location(name, int(line), int(column))
            return _named(self.alias(inner, tokens), name)
        if (call := _CALL.fullmatch(text)) is not None:
            return _called(self.alias(call[1], tokens), self.alias(call[2], tokens))
        return self.read(Tokens(text))

    def _file_or_name(self, text: str, tokens: Tokens) -> Location | None:
        if tokens.accept(":"):
            return _file(text, tokens)
        if not tokens.accept("("):
            return None
        named = self._place(tokens)
        tokens.expect(")")
        return _named(named, text)

    def _call(self, tokens: Tokens) -> Location | None:
        tokens.expect("(")
        callee = self._place(tokens)
        tokens.expect("at")
        caller = self._place(tokens)
        tokens.expect(")")
        return _called(callee, caller)

    def _fused(self, tokens: Tokens) -> Location | None:
        """The first of them that is a place in a file."""
        if tokens.current[0] == "<":
            tokens.take()
        elif tokens.accept("<{"):
            while tokens.take() != "}>":
                pass
        tokens.expect("[")
        found = None
        while not tokens.accept("]"):
            place = self._place(tokens)
            found = found or place
            tokens.accept(",")
        return found


def _named(place: Location | None, name: str) -> Location | None:
    return Location(place.path, place.line, place.column, name, place.callers) if place else None


def _called(callee: Location | None, caller: Location | None) -> Location | None:
    if callee is None or caller is None:
        return callee or caller
    call = Location(caller.path, caller.line, caller.column, caller.name)
    return Location(callee.path, callee.line, callee.column, callee.name, (*callee.callers, call, *caller.callers))


def _file(path: str, tokens: Tokens) -> Location:
    line = tokens.integer()
    tokens.expect(":")
    column = tokens.integer()
    if tokens.accept("to"):
        if tokens.current != ":":
            tokens.take()
        tokens.expect(":")
        tokens.take()
    return Location(path, line, column)
