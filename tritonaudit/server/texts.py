"""The text of an open file, as the editor changes it, and its places as the protocol writes them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types as lsp

from tritonaudit.finding import Span

_NEWLINE = re.compile(r"\r\n|\r|\n")

Units = Callable[[str], int]
"""How many units of a position's column a piece of a line is."""


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


UNITS: dict[str, Units] = {"utf-8": _utf8, "utf-16": _utf16, "utf-32": len}
"""By the name of the encoding that client and server agreed on."""


@dataclass(frozen=True)
class Text:
    """One version of an open file."""

    source: str
    version: int
    units: Units = _utf16

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _NEWLINE.finditer(self.source))]

    @cached_property
    def lines(self) -> list[str]:
        """Its lines as Python counts them, without what ends them."""
        return _NEWLINE.split(self.source)

    def offset(self, position: lsp.Position) -> int:
        """The place in the source; one past the end of a line, or of the text, is that end."""
        if position.line >= len(self.lines):
            return len(self.source)
        line = self.lines[position.line]
        if self.units is len or line.isascii():
            return self._starts[position.line] + min(position.character, len(line))
        column = units = 0
        while column < len(line) and units < position.character:
            units += self.units(line[column])
            column += 1
        return self._starts[position.line] + column

    def place(self, position: lsp.Position) -> tuple[int, int]:
        """The line and the column, both from 1, the column in code points."""
        offset = self.offset(position)
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def position(self, line: int, column: int) -> lsp.Position:
        """The other way round; a place outside the text is its nearest place."""
        row = min(max(line, 1), len(self.lines)) - 1
        return lsp.Position(row, self.units(self.lines[row][: max(column, 1) - 1]))

    def range(self, span: Span) -> lsp.Range:
        """A span of a finding."""
        return lsp.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def changed(self, changes: list[lsp.TextDocumentContentChangeEvent], version: int) -> Text:
        """The next version: each change is of the text that those before it left."""
        text = self
        for change in changes:
            source = change.text
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                first, last = text.offset(change.range.start), text.offset(change.range.end)
                source = text.source[:first] + change.text + text.source[max(first, last) :]
            text = Text(source, version, self.units)
        return text
