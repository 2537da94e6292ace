"""Sentences of a report before it is known what they are written in: prose, and names that are shown as code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
"""Code in prose: its ticks, and what stands between them."""


@dataclass(frozen=True)
class Code:
    """Text that is shown as code, whatever is in it."""

    text: str


Words = tuple[str | Code, ...]
"""Pieces of a sentence in their order. A piece of prose may have `code` in it, which is shown as such."""


def words(*parts: str | Code | Words) -> Words:
    """One sentence of several parts, of which the empty ones are left out."""
    pieces = (piece for part in parts for piece in (part if isinstance(part, tuple) else (part,)))
    return tuple(piece for piece in pieces if piece)


def joined(parts: Iterable[Words], by: str = "; ") -> Words:
    """The parts in one sentence, but for the empty ones."""
    known = [part for part in parts if part]
    return words(*(piece for number, part in enumerate(known) for piece in ((by, part) if number else (part,))))


def among(items: Iterable[str | Code | Words], most: int = 5) -> Words:
    """`a, b and c`; `a, b and 3 others` where there are more than `most`; empty where there are none."""
    known = list(dict.fromkeys(words(item) for item in items))
    if len(known) > most + 1:
        known[most:] = [words(f"{len(known) - most} others")]
    return joined((joined(known[:-1], ", "), *known[-1:]), " and ")
