"""The text of an open file: places as the protocol writes them, changes as it sends them."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp

from tritonaudit.finding import Span
from tritonaudit.server.texts import UNITS, Text

LINE = "a é 🎉 = 1"


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 10), ("utf-16", 7), ("utf-32", 6)])
def test_a_column_is_in_the_units_that_were_agreed_on(encoding: str, units: int) -> None:
    text = Text(f"x\n{LINE}\n", 1, UNITS[encoding])
    place = lsp.Position(1, units)
    assert text.position(2, LINE.index("=") + 1) == place
    assert text.place(place) == (2, LINE.index("=") + 1)
    assert text.source[text.offset(place) :].startswith("= 1")


def test_a_place_outside_the_text_is_its_nearest() -> None:
    text = Text("ab\r\ncd", 1)
    assert text.offset(lsp.Position(0, 9)) == 2
    assert text.offset(lsp.Position(9, 9)) == len("ab\r\ncd")
    assert text.range(Span(7, 1, 7, 9)) == lsp.Range(lsp.Position(1, 0), lsp.Position(1, 2))


def test_changes_are_each_of_the_text_before_them() -> None:
    def change(line: int, start: int, end: int, text: str) -> lsp.TextDocumentContentChangePartial:
        place = lsp.Range(lsp.Position(line, start), lsp.Position(line, end))
        return lsp.TextDocumentContentChangePartial(place, text)

    text = Text("one\rtwo\x0c\nthree", 1)
    text = text.changed([change(1, 0, 3, "2\n"), change(2, 1, 1, "!"), change(3, 5, 5, "\n")], 2)
    assert (text.source, text.version) == ("one\r2\n\x0c!\nthree\n", 2)
    whole = lsp.TextDocumentContentChangeWholeDocument("new")
    assert text.changed([whole, change(0, 3, 3, "er")], 3).source == "newer"
