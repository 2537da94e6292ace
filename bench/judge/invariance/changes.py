"""Changes to a text, and of each line of what comes out, the lines of the old text that it is about."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kept:
    """A stretch of the old text, taken over as it is."""

    start: int
    end: int


@dataclass(frozen=True)
class New:
    """A new text, which is about a stretch of the old one."""

    text: str
    start: int
    end: int


Part = Kept | New


@dataclass(frozen=True)
class Change:
    """What stands in the place of a stretch of the old text."""

    start: int
    end: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Moved:
    """A new file in the same folder."""

    name: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Edit:
    """What an edit does to a file: `names` maps new names of functions to those that they had, or speak for."""

    changes: tuple[Change, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    moved: tuple[Moved, ...] = ()


@dataclass(frozen=True)
class Text:
    """A text, and for each of its lines the lines of the old text that it is about."""

    text: str
    origins: tuple[frozenset[int], ...]


def replaced(start: int, end: int, text: str) -> Change:
    """A stretch replaced by a text."""
    return Change(start, end, (New(text, start, end),))


def inserted(at: int, text: str, about: tuple[int, int] | None = None) -> Change:
    """A text put in at a place; it is about that place, or about another stretch."""
    start, end = about or (at, at)
    return Change(at, at, (New(text, start, end),))


def changed(old: str, changes: Sequence[Change]) -> Text:
    """The text with the changes made. Raises ValueError where they overlap."""
    return assembled(old, _parts(old, changes))


def assembled(old: str, parts: Iterable[Part]) -> Text:
    """The text of the parts, in their order."""
    starts = line_starts(old)
    texts: list[str] = []
    origins: list[set[int]] = [set()]
    for part in parts:
        text = old[part.start : part.end] if isinstance(part, Kept) else part.text
        texts.append(text)
        for number, line in enumerate(text.split("\n")):
            if number:
                origins.append(set())
            if line:
                origins[-1].update(_lines_about(part, number, starts))
    return Text("".join(texts), tuple(map(frozenset, origins)))


def line_starts(text: str) -> list[int]:
    """Where each line starts."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts[:-1]


def line_at(starts: Sequence[int], place: int) -> int:
    """The number of the line, from 1, that a place is in."""
    return bisect.bisect_right(starts, place)


def _parts(old: str, changes: Sequence[Change]) -> Iterator[Part]:
    done = 0
    for change in sorted(changes, key=lambda one: (one.start, one.end)):
        if change.start < done:
            raise ValueError("changes overlap")
        yield Kept(done, change.start)
        yield from change.parts
        done = change.end
    yield Kept(done, len(old))


def _lines_about(part: Part, number: int, starts: Sequence[int]) -> Iterable[int]:
    first = line_at(starts, part.start)
    return (first + number,) if isinstance(part, Kept) else range(first, line_at(starts, part.end) + 1)
