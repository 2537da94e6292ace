"""What a stage shows besides its findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

Piece = tuple[str, str]
"""Text and the rich style that it takes in colour; an empty style is none."""
Line = tuple[Piece, ...]


@dataclass(frozen=True)
class Note:
    """Something to say at a line of a file that is no finding."""

    path: str
    line: int
    title: str
    text: str


class Section(Protocol):
    """A part of a report that one stage has: lines that people read before the findings, data beside them."""

    @property
    def key(self) -> str:
        """What its data are called in the JSON object."""

    def lines(self) -> Iterator[Line]:
        """The lines of the format full."""

    def short_lines(self) -> Iterator[Line]:
        """Those of the lines that the format concise has too."""

    def notes(self) -> Iterator[Note]:
        """What the format github says at lines of files."""

    def data(self) -> Any:
        """What the format json holds under the key."""
