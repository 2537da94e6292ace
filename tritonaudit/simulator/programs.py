"""The programs of a grid that are executed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

import torch

from tritonaudit.simulator.affine import Affine, Places, Progression

Grid = tuple[int, int, int]

_LONG_ROW = 16
"""Programs along the grid's first axis, so many that a chunk of them is worth its while."""

Order: TypeAlias = "str | int | Sequence[int]"
"""In which order programs run: `forward`, `reverse`, a random one by its seed, or their numbers (maybe not all)."""


@dataclass(frozen=True, eq=False)
class Programs:
    """Some programs of a grid, by their linear numbers (x fastest), in the order in which they are taken to run.

    As a range of step 1 their ids need no tensors.
    """

    grid: Grid
    listed: range | torch.Tensor

    def __len__(self) -> int:
        return len(self.listed)

    @cached_property
    def numbers(self) -> torch.Tensor:
        """The linear numbers: int64, of shape (programs,)."""
        return torch.arange(self.listed.start, self.listed.stop) if isinstance(self.listed, range) else self.listed

    def take(self, index: Places) -> Programs:
        """Those at these places."""
        return Programs(self.grid, self.listed[index] if isinstance(index, slice) else self.numbers[index])

    @cached_property
    def ids(self) -> tuple[Affine, Affine, Affine]:
        """What `tl.program_id` gives along each axis."""
        return self._along(0), self._along(1), self._along(2)

    def _along(self, axis: int) -> Affine:
        step, size = prod(self.grid[:axis]), self.grid[axis]
        if isinstance(self.listed, range):
            first, last = self.listed.start // step, (self.listed.stop - 1) // step
            if first == last:
                return Affine.uniform(first % size)
            if step == 1 and first // size == last // size:
                return Affine.evenly(Progression(first % size, 1, len(self.listed)))
        return Affine.per_program(self.numbers // step % size)

    def id(self, place: int) -> Grid:
        """The program ids of one of them."""
        number = int(self.numbers[place])
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)


def chunks(grid: Grid, size: int, order: torch.Tensor | None = None) -> Iterator[Programs]:
    """All programs of a grid, `size` at a time, in their own order or another one.

    In their own order, those of a chunk are of one row of the grid, or of whole rows where these are short: what hangs
    on the other axes is then the same for all of them, or for many.
    """
    count = prod(grid) if order is None else len(order)
    row = grid[0] if order is None and grid[0] >= _LONG_ROW else max(count, 1)
    for first in range(0, count, row):
        for start in range(first, first + row, size):
            stop = min(start + size, first + row)
            yield Programs(grid, range(start, stop) if order is None else order[start:stop])


def numbers_in(order: Order, programs: int) -> torch.Tensor | None:
    """The programs' numbers in an order; None where that is their own. Raises ValueError."""
    if order == "forward":
        return None
    if order == "reverse":
        return torch.arange(programs).flip(0)
    if isinstance(order, int):
        return torch.randperm(programs, generator=torch.Generator().manual_seed(order))
    if isinstance(order, str):
        raise ValueError(f"`{order}` is no order: it is `forward`, `reverse`, a seed, or programs by their numbers")
    numbers = torch.tensor([int(one) for one in order], dtype=torch.int64)
    if bool(((numbers < 0) | (numbers >= programs)).any()):
        raise ValueError(f"the launch has programs 0 to {programs - 1}, but the order names others")
    if len(numbers.unique()) < len(numbers):
        raise ValueError("the order names a program twice")
    return numbers
