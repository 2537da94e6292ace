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
        box = self._box()
        if box is None:
            x, y, _ = self.grid
            along = (self.numbers % x, self.numbers // x % y, self.numbers // (x * y))
            return (Affine.per_program(along[0]), Affine.per_program(along[1]), Affine.per_program(along[2]))
        first = self.id(0)
        return _evenly(0, box, first[0]), _evenly(1, box, first[1]), _evenly(2, box, first[2])

    def _box(self) -> Grid | None:
        """How many there are along each axis of the grid, where they are known to be those of a box in their order."""
        if not isinstance(self.listed, range):
            return None
        found = [1, 1, 1]
        first, count = self.listed.start, len(self.listed)
        for axis, size in enumerate(self.grid):
            if first // size == (first + count - 1) // size:  # all lie in one line
                found[axis] = count
                return found[0], found[1], found[2]
            if first % size or count % size:
                return None
            found[axis], first, count = size, first // size, count // size
        return None

    def id(self, place: int) -> Grid:
        """The program ids of one of them."""
        number = int(self.listed[place])
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)


def _evenly(axis: int, box: Grid, first: int) -> Affine:
    """The ids of a box of programs along one axis, of which the first is given."""
    if box[axis] == 1:
        return Affine.uniform(first)
    axes = [each for each in (2, 1, 0) if box[each] > 1]
    steps, sizes = tuple(int(each == axis) for each in axes), tuple(box[each] for each in axes)
    return Affine.evenly(Progression(first, steps, sizes))


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
        raise ValueError(f"`{order}` is not an order: use `forward`, `reverse`, a seed, or programs by their numbers")
    numbers = torch.tensor([int(one) for one in order], dtype=torch.int64)
    if bool(((numbers < 0) | (numbers >= programs)).any()):
        raise ValueError(f"the launch has programs 0 to {programs - 1}, but the order names others")
    if len(numbers.unique()) < len(numbers):
        raise ValueError("the order names a program twice")
    return numbers
