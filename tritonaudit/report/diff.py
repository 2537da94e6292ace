"""What edits change in a text, as the lines that go and those that come in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tritonaudit.finding import Edit, Span
from tritonaudit.fixes.applying import edited


@dataclass(frozen=True)
class Change:
    """Lines that go, of which the first has this number, and those that come."""

    line: int
    gone: tuple[str, ...]
    come: tuple[str, ...]


def changes(edits: Iterable[Edit], lines_of: Callable[[int | None], Sequence[str]]) -> list[Change]:
    """The changes in the order of the text, whose lines `lines_of` gives, of a notebook cell by cell.

    Only lines that edits touch are looked at. None where the text is not known, or has no such places.
    """
    found = []
    for together in _together(edits):
        change = _change(together, lines_of(together[0].span.cell))
        if change is None:
            return []
        found.append(change)
    return found


def _together(edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    """Edits, in the order of the text, of which each begins where the one before ends, or above."""
    found: list[Edit] = []
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.cell or 0, edit.span)):
        if found and (found[-1].span.cell != edit.span.cell or edit.span.line > found[-1].span.end_line):
            yield found
            found = []
        found.append(edit)
    if found:
        yield found


def _change(edits: Sequence[Edit], lines: Sequence[str]) -> Change | None:
    first, last = edits[0].span.line, max(edit.span.end_line for edit in edits)
    if not all(_is_in(edit.span, lines) for edit in edits):
        return None
    old = lines[first - 1 : last]
    new = edited("\n".join(old), (replace(edit, span=_moved(edit.span, first - 1)) for edit in edits)).split("\n")
    before = _alike(old, new)
    after = _alike(old[before:][::-1], new[before:][::-1])
    return Change(first + before, tuple(old[before : len(old) - after]), tuple(new[before : len(new) - after]))


def _is_in(span: Span, lines: Sequence[str]) -> bool:
    ends = ((span.line, span.column), (span.end_line, span.end_column))
    return all(1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1 for line, column in ends)


def _moved(span: Span, up: int) -> Span:
    return replace(span, line=span.line - up, end_line=span.end_line - up)


def _alike(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines they have in common at their start."""
    number = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        number += 1
    return number
