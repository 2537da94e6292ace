"""Integers and addresses that are any number along some axes of a block, and grow evenly along the others."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tritonaudit.simulator.affine import Affine, Places


@dataclass(frozen=True, eq=False)
class Rows:
    """`base + sum(stride * lane)`, as rows that are gathered have them.

    `base` is int64, of shape (programs or 1, *sizes or 1); along an axis of which it has more than one element the
    stride is 0. `low` and `high` bound the base.
    """

    base: torch.Tensor
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    low: int
    high: int

    @staticmethod
    def of(data: torch.Tensor | Affine | Rows, shape: tuple[int, ...]) -> Rows:
        """The same as rows."""
        if isinstance(data, Rows):
            return data
        if isinstance(data, Affine):
            base = torch.as_tensor(data.base).reshape(-1, *([1] * len(shape)))
            return Rows(base, data.strides, shape, data.low, data.high)
        low, high = torch.aminmax(data)
        return Rows(data.to(torch.int64), (0,) * len(shape), shape, int(low), int(high))

    @property
    def bounds(self) -> tuple[int, int]:
        """Between what all of it lies."""
        return Affine(0, self.strides, self.shape, self.low, self.high).bounds

    def plus(self, other: Rows) -> Rows | None:
        """The sum; None where that takes as much room as all of its elements, or where it is no sum of rows."""
        sizes = torch.broadcast_shapes(self.base.shape, other.base.shape)[1:]
        strides = tuple(a + b for a, b in zip(self.strides, other.strides, strict=True))
        is_mixed = any(n > 1 and (a or b) for n, a, b in zip(sizes, self.strides, other.strides, strict=True))
        if is_mixed or not any(strides):
            return None
        return Rows(self.base + other.base, strides, self.shape, self.low + other.low, self.high + other.high)

    def times(self, factor: int) -> Rows:
        """The product with one integer."""
        strides = tuple(stride * factor for stride in self.strides)
        edges = (self.low * factor, self.high * factor)
        return Rows(self.base * factor, strides, self.shape, min(edges), max(edges))

    def expand(self, axis: int) -> Rows:
        """With an axis of size 1 more."""
        strides, shape = list(self.strides), list(self.shape)
        strides.insert(axis, 0)
        shape.insert(axis, 1)
        return Rows(self.base.unsqueeze(axis + 1), tuple(strides), tuple(shape), self.low, self.high)

    def broadcast(self, shape: tuple[int, ...]) -> Rows:
        """With its axes of size 1 as long as the shape says."""
        strides = tuple(0 if was == 1 else s for s, was in zip(self.strides, self.shape, strict=True))
        return Rows(self.base, strides, shape, self.low, self.high)

    def permute(self, order: tuple[int, ...]) -> Rows:
        """With the axes in another order."""
        strides, shape = tuple(self.strides[i] for i in order), tuple(self.shape[i] for i in order)
        return Rows(self.base.permute(0, *(axis + 1 for axis in order)), strides, shape, self.low, self.high)

    def take(self, index: Places) -> Rows:
        """Of the programs at these places."""
        base = self.base if self.base.shape[0] == 1 else self.base[index]
        return Rows(base, self.strides, self.shape, self.low, self.high)

    def tensor(self, dtype: torch.dtype) -> torch.Tensor:
        """Every element, of shape (programs or 1, *sizes or 1), wrapped to the dtype."""
        return (self.base + Affine(0, self.strides, self.shape, 0, 0).tensor(torch.int64)).to(dtype)
