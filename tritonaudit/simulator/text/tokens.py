"""TTIR's text as tokens, and a cursor over them."""

from __future__ import annotations

import re
from typing import NoReturn

_VALUES = r"%[\w.$-]+(?:\#\d+)?(?:,\ %[\w.$-]+(?:\#\d+)?)*"
_TYPES = r"[\w!.]+(?:<[\w!.<>]*>)?(?:,\ [\w!.]+(?:<[\w!.<>]*>)?)*"
_PLAIN = rf"""(?<=\ \ )(?:%[\w.$-]+\ =\ )?[a-z]\w*\.[\w.]+(?:\ [a-z]\w*,?)?(?:\ {_VALUES})?(?:\ \{{[^{{}}<>"]*\}})?
        \ :\ {_TYPES}(?:\ (?:->|to)\ {_TYPES})?\ loc\(\#loc\d*\)$"""
_TOKEN = re.compile(
    rf"""//[^\n]*
    | (
        {_PLAIN}
      | "(?:[^"\\]|\\.)*"
      | %[\w.$-]+(?:\#\d+)?
      | \^\w+
      | @(?:[\w.$-]+|"(?:[^"\\]|\\.)*")
      | [#!]?[A-Za-z_][\w.$]*
      | 0x[0-9A-Fa-f]+
      | -?\d+(?:\.\d*(?:[eE][-+]?\d+)?)?
      | ->
      | <\{{ | \}}>
      | <(?:[^<>"]|"[^"]*"|<(?:[^<>]|<[^<>]*>)*>)*>
      | \S
    )""",
    re.VERBOSE | re.MULTILINE,
)
_PARTS = re.compile(
    r"(?:(?P<result>%[^ ]+) = )?(?P<name>[^ ]+)(?: (?P<word>\w+),?)?"
    r"(?: (?P<operands>%[^{:]*?))?(?: (?P<attributes>\{.*\}))?"
    r" : (?P<types>[^()]*?)(?: (?:->|to) (?P<results>[^()]*))? loc\((?P<location>#loc\d*)\)"
)
_ESCAPED = re.compile(r"\\([0-9A-Fa-f]{2}|.)")


class UnsupportedText(Exception):
    """Text that is not understood: what, and in which of its lines (from 1)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"{message} (line {line})")
        self.message = message
        self.line = line


class Tokens:
    """A cursor over a text's tokens; behind the last one `current` is empty.

    What stands between `<` and `>` is one token, except for an operation's properties, `<{` to `}>`. So is the line of
    an operation that has nothing but a result, a word, operands, attributes, types and a location, as most are.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._all: list[str] = [token for token in _TOKEN.findall(text) if token]
        self._all += ["", ""]
        self._position = 0

    @property
    def current(self) -> str:
        return self._all[self._position]

    @property
    def following(self) -> str:
        """The token behind the current one."""
        return self._all[self._position + 1]

    def plain(self) -> re.Match[str] | None:
        """The parts of the plain operation at the cursor."""
        token = self._all[self._position]
        return _PARTS.fullmatch(token) if token[-1:] == ")" and token != ")" else None

    def take(self) -> str:
        """The current token, which the cursor goes past."""
        token = self._all[self._position]
        if not token:
            self.fail("the text ends too early")
        self._position += 1
        return token

    def accept(self, token: str) -> bool:
        """Goes past the token if it is the current one, and says whether it was."""
        found = self._all[self._position] == token
        self._position += found
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail(f"expected `{token}` instead of `{self.current}`")

    def integer(self) -> int:
        """The number at the cursor, which it goes past."""
        if not self.current.isdecimal():
            self.fail(f"expected a number instead of `{self.current}`")
        return int(self.take())

    def fail(self, message: str) -> NoReturn:
        """Raises `UnsupportedText` for the current token."""
        raise UnsupportedText(message, self._line())

    def _line(self) -> int:
        starts = [match.start() for match in _TOKEN.finditer(self._text) if match[1]]
        start = starts[self._position] if self._position < len(starts) else len(self._text.rstrip())
        return self._text.count("\n", 0, start) + 1


def unquoted(token: str) -> str:
    """The text of a quoted string, in which MLIR writes other characters' bytes as two hexadecimal digits."""
    return _bytes_as_text(_ESCAPED.sub(_character, token[1:-1])) if "\\" in token else token[1:-1]


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if len(match[1]) == 2 else match[1]


def _bytes_as_text(text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
