"""Integers and addresses that grow evenly along a block's axes, kept as numbers instead of as a block of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch

Number: TypeAlias = "int | torch.Tensor"
"""One integer for all programs, or one for each: int64, of shape (programs,)."""


@dataclass(frozen=True, eq=False)
class Affine:
    """`base + sum(stride * lane)` over the lanes of a block of that shape; a scalar has no axes.

    `low` and `high` bound the base over all programs; they may be wider than it is.
    """

    base: Number
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    low: int
    high: int

    @staticmethod
    def uniform(value: int, shape: tuple[int, ...] = ()) -> Affine:
        """The same integer everywhere."""
        return Affine(value, (0,) * len(shape), shape, value, value)

    @staticmethod
    def per_program(base: torch.Tensor, shape: tuple[int, ...] = ()) -> Affine:
        """The same integer in all lanes of a program; one for all programs where the tensor holds one."""
        if base.numel() == 1:
            return Affine.uniform(int(base), shape)
        low, high = (int(edge) for edge in torch.aminmax(base))
        if low == high:
            return Affine.uniform(low, shape)
        return Affine(base.to(torch.int64), (0,) * len(shape), shape, low, high)

    @property
    def is_uniform(self) -> bool:
        """Whether it is one integer for all programs and lanes."""
        return isinstance(self.base, int) and self.is_lane_constant

    @property
    def is_lane_constant(self) -> bool:
        return not any(self.strides)

    @property
    def value(self) -> int:
        """The one integer; only where it is uniform."""
        assert isinstance(self.base, int)
        return self.base

    @property
    def span(self) -> tuple[int, int]:
        """What the least and the greatest lane add to the base."""
        low = high = 0
        for stride, size in zip(self.strides, self.shape, strict=True):
            reach = stride * (size - 1)
            low, high = (low + reach, high) if reach < 0 else (low, high + reach)
        return low, high

    @property
    def bounds(self) -> tuple[int, int]:
        """Between what all of it lies."""
        low, high = self.span
        return self.low + low, self.high + high

    def exact(self) -> Affine:
        """The same with the tightest bounds."""
        if isinstance(self.base, int):
            return self
        low, high = (int(edge) for edge in torch.aminmax(self.base))
        return Affine(self.base, self.strides, self.shape, low, high)

    def plus(self, other: Affine) -> Affine:
        """The sum; the shapes are the same."""
        strides = tuple(a + b for a, b in zip(self.strides, other.strides, strict=True))
        return Affine(self.base + other.base, strides, self.shape, self.low + other.low, self.high + other.high)

    def minus(self, other: Affine) -> Affine:
        """The difference; the shapes are the same."""
        return self.plus(other.times(-1))

    def times(self, factor: int) -> Affine:
        """The product with one integer."""
        edges = (self.low * factor, self.high * factor)
        return Affine(self.base * factor, tuple(s * factor for s in self.strides), self.shape, min(edges), max(edges))

    def product(self, other: Affine) -> Affine | None:
        """The product where that is affine: one is uniform, or both are constant over the lanes."""
        if other.is_uniform:
            return self.times(other.value)
        if self.is_uniform:
            return other.times(self.value)
        if not (self.is_lane_constant and other.is_lane_constant):
            return None
        edges = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Affine(self.base * other.base, self.strides, self.shape, min(edges), max(edges))

    # -- shapes ----------------------------------------------------------------------------------------------------

    def splat(self, shape: tuple[int, ...]) -> Affine:
        """A scalar in every lane."""
        return Affine(self.base, (0,) * len(shape), shape, self.low, self.high)

    def expand(self, axis: int) -> Affine:
        """With an axis of size 1 more."""
        strides = (*self.strides[:axis], 0, *self.strides[axis:])
        return Affine(self.base, strides, (*self.shape[:axis], 1, *self.shape[axis:]), self.low, self.high)

    def broadcast(self, shape: tuple[int, ...]) -> Affine:
        """With its axes of size 1 as long as the shape says."""
        strides = tuple(0 if was == 1 else s for s, was in zip(self.strides, self.shape, strict=True))
        return Affine(self.base, strides, shape, self.low, self.high)

    def permute(self, order: tuple[int, ...]) -> Affine:
        """With the axes in another order."""
        strides, shape = tuple(self.strides[i] for i in order), tuple(self.shape[i] for i in order)
        return Affine(self.base, strides, shape, self.low, self.high)

    # -- programs --------------------------------------------------------------------------------------------------

    def take(self, index: torch.Tensor) -> Affine:
        """Of the programs at these places."""
        if isinstance(self.base, int):
            return self
        return Affine(self.base[index], self.strides, self.shape, self.low, self.high)

    def tensor(self, dtype: torch.dtype) -> torch.Tensor:
        """Every element, of shape (programs or 1, *sizes or 1), wrapped to the dtype."""
        rank = len(self.shape)
        base = torch.tensor([self.base]) if isinstance(self.base, int) else self.base
        total = base.reshape(-1, *([1] * rank))
        for axis, (stride, size) in enumerate(zip(self.strides, self.shape, strict=True)):
            if stride:
                lanes = torch.arange(size, dtype=torch.int64) * stride
                total = total + lanes.reshape([size if i == axis + 1 else 1 for i in range(rank + 1)])
        return total.to(dtype)
