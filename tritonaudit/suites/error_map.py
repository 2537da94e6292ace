"""Where in an output elements are wrong: enough to see a tail, a tile or every other row. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

ROWS, COLUMNS = 16, 64
"""The most tiles from top to bottom and from left to right."""


@dataclass(frozen=True)
class ErrorMap:
    """The share of wrong elements in each tile of an output, row by row; None where a tile has no element.

    The map shows the output as a matrix, of the `rows` and `columns` that a tile spans: all axes but the last from top
    to bottom. An output of one axis is laid out in lines of `width` elements, as text is.
    """

    name: str
    shape: tuple[int, ...]
    wrong: int
    width: int
    rows: int
    columns: int
    shares: tuple[tuple[float | None, ...], ...]

    @property
    def elements(self) -> int:
        """How many elements the output has."""
        found = 1
        for size in self.shape:
            found *= size
        return found


def error_map(name: str, wrong: Tensor) -> ErrorMap:
    """The map of an output, of which `wrong` says element by element what is (bool, of its shape, not empty)."""
    width = wrong.shape[-1] if wrong.dim() > 1 else _line(wrong.numel())
    height = -(-wrong.numel() // width)
    rows, columns = -(-height // ROWS), -(-width // COLUMNS)
    flat = wrong.new_zeros(height * width)
    flat[: wrong.numel()] = wrong.flatten()
    exists = wrong.new_zeros(height * width)
    exists[: wrong.numel()] = True
    counts, sizes = (_per_tile(one.reshape(height, width), rows, columns) for one in (flat, exists))
    shares = tuple(
        tuple(count / size if size else None for count, size in zip(*both, strict=True))
        for both in zip(counts, sizes, strict=True)
    )
    return ErrorMap(name, tuple(wrong.shape), int(wrong.sum()), width, rows, columns, shares)


def _line(elements: int) -> int:
    """How wide the lines are that an output of one axis is laid out in."""
    lines = min(ROWS, -(-elements // COLUMNS))
    return -(-elements // lines)


def _per_tile(marks: Tensor, rows: int, columns: int) -> list[list[int]]:
    """How many elements of each tile are marked."""
    height, width = marks.shape
    down, across = -(-height // rows), -(-width // columns)
    padded = marks.new_zeros(down * rows, across * columns)
    padded[:height, :width] = marks
    counts: list[list[int]] = padded.reshape(down, rows, across, columns).sum((1, 3)).tolist()
    return counts
