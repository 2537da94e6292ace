"""Code frames: the lines around a span, with marks under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from tritonaudit.finding import Span
from tritonaudit.report.escape import cell_width, visible_character

_TAB = 4
_WIDEST = 120
"""Code points of a line that are shown."""
_LEAD = 30
"""Code points shown before a mark that lies far to the right in a long line."""
_CUT = "..."


@dataclass(frozen=True)
class Row:
    """One row of a frame: a source line, which has a number, or the marks under one (or a gap), which has not.

    `marked` are the first character of a source line's text that is marked, and the one after the last.
    """

    number: int | None
    text: str
    marked: tuple[int, int] | None = None

    @property
    def is_marks(self) -> bool:
        return self.number is None and self.text != _CUT


def frame(lines: Sequence[str], span: Span, around: int = 1) -> tuple[Row, ...]:
    """Rows that show the span in the file's lines; none when the span lies outside them.

    So many lines `around` it are shown, and one less on each side of a span of several lines.
    """
    if not 1 <= span.line <= len(lines):
        return ()
    end_line, end_column = _last_place(lines, span)
    is_one_line = end_line == span.line
    beside = around if is_one_line else around - 1
    left = _left(lines[span.line - 1], span.column) if is_one_line else 0
    marked = (
        _marked(lines, span.line, span.column, end_column)
        if is_one_line
        else _many_lines(lines, span, end_line, end_column)
    )
    return (
        *_context(lines, range(span.line - beside, span.line), left),
        *marked,
        *_context(lines, range(end_line + 1, end_line + 1 + beside), left),
    )


def _last_place(lines: Sequence[str], span: Span) -> tuple[int, int]:
    """Where the span ends, pulled back from the start of a line to the end of the one before."""
    end_line, end_column = span.end_line, span.end_column
    if end_line > span.line and end_column <= 1:
        end_line, end_column = end_line - 1, _past_end(lines, end_line - 1)
    if end_line > len(lines):
        end_line, end_column = len(lines), _past_end(lines, len(lines))
    return end_line, end_column


def _past_end(lines: Sequence[str], number: int) -> int:
    return len(lines[number - 1]) + 1 if number <= len(lines) else 1


def _context(lines: Sequence[str], numbers: range, left: int) -> Iterator[Row]:
    """Those lines, but for blank ones at either end."""
    written = [number for number in numbers if 1 <= number <= len(lines) and lines[number - 1].strip()]
    for number in range(written[0], written[-1] + 1) if written else ():
        yield Row(number, _shown(lines[number - 1], left))


def _many_lines(lines: Sequence[str], span: Span, end_line: int, end_column: int) -> Iterator[Row]:
    yield from _marked(lines, span.line, span.column, _past_end(lines, span.line))
    if end_line == span.line + 2:
        yield Row(span.line + 1, _shown(lines[span.line], 0))
    elif end_line > span.line + 2:
        yield Row(None, _CUT)
    last = lines[end_line - 1]
    yield from _marked(lines, end_line, len(last) - len(last.lstrip()) + 1, end_column)


def _marked(lines: Sequence[str], number: int, start: int, end: int) -> Iterator[Row]:
    line = lines[number - 1]
    left = _left(line, start)
    cells = list(_cells(line[left : left + _WIDEST]))
    cut = len(_CUT) if left else 0
    first = min(max(start - 1 - left, 0), len(cells))
    past = max(end - 1 - left, first)
    marks = max(sum(width for _, width in cells[first:past]), 1)
    begins, ends = (cut + sum(len(text) for text, _ in cells[:place]) for place in (first, past))
    yield Row(number, _shown(line, left), (begins, ends))
    yield Row(None, " " * (cut + sum(width for _, width in cells[:first])) + "^" * marks)


def _left(line: str, start: int) -> int:
    """How many code points to leave out at the left so that a mark at column `start` is in sight."""
    return 0 if len(line) <= _WIDEST or start <= _WIDEST // 2 else min(start, len(line)) - 1 - _LEAD


def _shown(line: str, left: int) -> str:
    text = line[left : left + _WIDEST]
    code = (text if _is_plain(text) else "".join(shown for shown, _ in _cells(text))).rstrip()
    return (_CUT if left else "") + code + (_CUT if left + _WIDEST < len(line) else "")


def _is_plain(text: str) -> bool:
    """Whether each of its code points shows as itself in one cell of a terminal."""
    return text.isascii() and text.isprintable()


def _cells(text: str) -> Iterator[tuple[str, int]]:
    """What each code point shows as, and the terminal cells it takes."""
    if _is_plain(text):
        yield from zip(text, repeat(1))
        return
    column = 0
    for character in text:
        shown = " " * (_TAB - column % _TAB) if character == "\t" else visible_character(character)
        width = cell_width(character) if shown == character else len(shown)
        column += width
        yield shown, width
