"""Code frames, drawn."""

from __future__ import annotations

import pytest

from tritonaudit.finding import Span
from tritonaudit.report.frame import frame


def drawn(text: str, span: Span) -> str:
    return "\n".join(f"{row.number or ' '}|{row.text}" for row in frame(text.split("\n"), span))


@pytest.mark.parametrize(
    ("text", "span", "rows"),
    [
        ("a\nbcd\ne", Span(2, 2, 2, 4), "1|a\n2|bcd\n | ^^\n3|e"),
        ("\tx = y", Span(1, 6, 1, 7), "1|    x = y\n |        ^"),
        ("a\tb", Span(1, 2, 1, 3), "1|a   b\n | ^^^"),
        ("'幅' + x", Span(1, 7, 1, 8), "1|'幅' + x\n |       ^"),
        ("'幅'", Span(1, 2, 1, 3), "1|'幅'\n | ^^"),
        ("'e\u0301' + x", Span(1, 8, 1, 9), "1|'e\u0301' + x\n |      ^"),
        ("\ufeffx", Span(1, 2, 1, 3), "1|\\ufeffx\n |      ^"),
        ("'\x00' + x", Span(1, 7, 1, 8), "1|'\\x00' + x\n |         ^"),
        ("f(\n  a,\n)", Span(1, 1, 3, 2), "1|f(\n |^^\n2|  a,\n3|)\n |^"),
        ("f(\n  a,\n  b,\n)", Span(1, 1, 4, 2), "1|f(\n |^^\n |...\n4|)\n |^"),
        ("f(\n  a)", Span(1, 2, 2, 5), "1|f(\n | ^\n2|  a)\n |  ^^"),
        ("ab\nc", Span(1, 1, 2, 1), "1|ab\n |^^\n2|c"),
        ("ab", Span(1, 3, 1, 3), "1|ab\n |  ^"),
        ("ab", Span(1, 50, 9, 60), "1|ab\n |  ^"),
        ("", Span(1, 1, 1, 1), "1|\n |^"),
        ("ab", Span(7, 1, 7, 2), ""),
    ],
)
def test_draws(text: str, span: Span, rows: str) -> None:
    assert drawn(text, span) == rows


def test_a_long_line_is_cut_around_the_mark() -> None:
    line = "x" * 500_000 + "HERE" + "x" * 500_000
    rows = frame([line], Span(1, 500_001, 1, 500_005))
    assert [row.text for row in rows] == ["..." + "x" * 30 + "HERE" + "x" * 86 + "...", " " * 33 + "^^^^"]


def test_the_end_of_a_long_line_is_in_sight() -> None:
    rows = frame(["x" * 1000], Span(1, 1001, 1, 1001))
    assert rows[0].text == "..." + "x" * 31
    assert rows[1].text == " " * 34 + "^"


def test_a_long_span_is_cut_at_the_right() -> None:
    rows = frame(["x" * 1000], Span(1, 1, 1, 1001))
    assert [row.text for row in rows] == ["x" * 120 + "...", "^" * 120]


@pytest.mark.parametrize(
    ("text", "span", "marked"),
    [
        ("a = bcd", Span(1, 5, 1, 8), ["bcd"]),
        ("\tx = '幅'", Span(1, 6, 1, 9), ["'幅'"]),
        ("a\tb", Span(1, 2, 1, 3), ["   "]),
        ("'\x00' + x", Span(1, 1, 1, 4), ["'\\x00'"]),
        ("f(\n  a,\n)", Span(1, 1, 3, 2), ["f(", ")"]),
        ("ab", Span(1, 3, 1, 3), [""]),
        ("x" * 300 + "yz", Span(1, 301, 1, 303), ["yz"]),
    ],
)
def test_source_lines_know_what_is_marked(text: str, span: Span, marked: list[str]) -> None:
    rows = frame(text.split("\n"), span)
    assert [row.text[slice(*row.marked)] for row in rows if row.marked] == marked
