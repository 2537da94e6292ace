"""Integers and addresses that grow evenly along a block's axes, kept as numbers instead of as a block of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import add
from typing import TypeAlias

import torch

Places: TypeAlias = "torch.Tensor | slice"
"""Some programs of several, by their places among them: int64, or a slice of step 1 that has both of its ends."""

_EDGE = 1 << 63
"""Behind the greatest integer of 64 bits."""


@dataclass(eq=False, slots=True)
class Progression:
    """`first + sum(step * place)` for the programs of a box of the grid, by their places along its axes.

    `sizes` says how many programs there are along each axis, 2 at least, and the last axis is the fastest. Not all of
    the steps are 0.
    """

    first: int
    steps: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many programs there are."""
        return prod(self.sizes)

    @property
    def step(self) -> int | None:
        """How far apart the numbers of neighbouring programs are, where that is one number."""
        wanted = self.steps[-1]
        for step, size in zip(reversed(self.steps), reversed(self.sizes), strict=True):
            if step != wanted:
                return None
            wanted *= size
        return self.steps[-1]

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest."""
        low = high = self.first
        for step, size in zip(self.steps, self.sizes, strict=True):
            reach = step * (size - 1)
            low, high = (low + reach, high) if reach < 0 else (low, high + reach)
        return low, high

    def plus(self, other: int | Progression) -> Number:
        if isinstance(other, int):
            return Progression(self.first + other, self.steps, self.sizes)
        if self.sizes != other.sizes:
            return self.tensor() + other.tensor()
        first, steps = self.first + other.first, tuple(map(add, self.steps, other.steps))
        return Progression(first, steps, self.sizes) if any(steps) else first

    def times(self, factor: int) -> int | Progression:
        if not factor:
            return 0
        return Progression(self.first * factor, tuple([step * factor for step in self.steps]), self.sizes)

    def take(self, index: Places) -> Number:
        """Those at these places."""
        if isinstance(index, slice) and len(self.sizes) == 1:
            (step,), count = self.steps, index.stop - index.start
            first = self.first + step * index.start
            return first if count == 1 else Progression(first, self.steps, (count,))
        numbers = self.tensor()[index]
        found = progression_of(numbers)
        return numbers if found is None else found

    def tensor(self) -> torch.Tensor:
        """All of them: int64, of shape (programs,)."""
        step, rank = self.step, len(self.sizes)
        if step is not None:
            return _line(self.first, step, self.count)
        lines = [_line(0, step, size) for step, size in zip(self.steps, self.sizes, strict=True)]
        parts = [line.reshape([-1 if each == axis else 1 for each in range(rank)]) for axis, line in enumerate(lines)]
        return (reduce(add, parts) + _wrapped(self.first)).reshape(-1)


def _line(first: int, step: int, count: int) -> torch.Tensor:
    """`first + step * i` of 64 bits, of shape (count,)."""
    behind = first + step * count
    if step and min(first, behind) >= -_EDGE and max(first, behind) < _EDGE:
        return torch.arange(first, behind, step)
    return torch.arange(count) * _wrapped(step) + _wrapped(first)


Base: TypeAlias = "int | torch.Tensor"
"""One integer for all programs, or one for each: int64, of shape (programs,)."""

Number: TypeAlias = "int | Progression | torch.Tensor"
"""The same, where integers that grow evenly from program to program may be kept as a progression."""


_FEW = 256
"""Numbers, so few that to look at them in Python is quicker than to ask torch."""


def progression_of(numbers: torch.Tensor) -> int | Progression | None:
    """Integers, of shape (programs,), as one integer or a progression; None where they are neither."""
    count = len(numbers)
    if not count:
        return None
    first, *following = numbers[:2].tolist()
    step = following[0] - first if following else 0
    if count <= _FEW:
        is_even = numbers.tolist() == [first + step * place for place in range(count)]
    else:
        is_even = bool((numbers.diff() == step).all())
    if not is_even:
        return None
    return Progression(first, (step,), (count,)) if step else first


def _edges(numbers: torch.Tensor) -> tuple[int, int]:
    """The least and the greatest of integers, of shape (programs,)."""
    if len(numbers) <= _FEW:
        listed = numbers.tolist()
        return min(listed), max(listed)
    low, high = torch.aminmax(numbers)
    return int(low), int(high)


def base_of(number: Number) -> Base:
    """The same without progressions."""
    return number.tensor() if isinstance(number, Progression) else number


def _sum(a: Number, b: Number) -> Number:
    if isinstance(a, Progression) and not isinstance(b, torch.Tensor):
        return a.plus(b)
    if isinstance(b, Progression) and isinstance(a, int):
        return b.plus(a)
    return base_of(a) + base_of(b)


def _wrapped(number: int) -> int:
    """As 64 bits hold it."""
    return (number + _EDGE) % (2 * _EDGE) - _EDGE


# Not frozen, which would take three times as long to make: launches of small blocks make many of them.
@dataclass(eq=False, slots=True)
class Affine:
    """`number + sum(stride * lane)` over the lanes of a block of that shape; a scalar has no axes.

    `low` and `high` bound the number over all programs; they may be wider than it is. Nothing changes it once made.
    """

    number: Number
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
        low, high = _edges(base)
        if low == high:
            return Affine.uniform(low, shape)
        return Affine(base.to(torch.int64), (0,) * len(shape), shape, low, high)

    @staticmethod
    def evenly(number: int | Progression, shape: tuple[int, ...] = ()) -> Affine:
        """The same in all lanes of a program, and growing evenly from program to program."""
        low, high = (number, number) if isinstance(number, int) else number.bounds
        return Affine(number, (0,) * len(shape), shape, low, high)

    @property
    def base(self) -> Base:
        """The number as an integer or a tensor, for those who compute with all programs' numbers."""
        return base_of(self.number)

    @property
    def first(self) -> int:
        """The first program's number."""
        if isinstance(self.number, int):
            return self.number
        return self.number.first if isinstance(self.number, Progression) else int(self.number[0])

    @property
    def programs(self) -> int:
        """How many programs have a number of their own; 1 where it is the same for all."""
        if isinstance(self.number, int):
            return 1
        return self.number.count if isinstance(self.number, Progression) else len(self.number)

    @property
    def progression(self) -> int | Progression | None:
        """The number, where it is one for all programs or grows evenly along axes of them."""
        return progression_of(self.number) if isinstance(self.number, torch.Tensor) else self.number

    @property
    def is_uniform(self) -> bool:
        """Whether it is one integer for all programs and lanes."""
        return isinstance(self.number, int) and not any(self.strides)

    @property
    def is_lane_constant(self) -> bool:
        return not any(self.strides)

    @property
    def value(self) -> int:
        """The one integer; only where it is uniform."""
        assert isinstance(self.number, int)
        return self.number

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
        if not isinstance(self.number, torch.Tensor):
            return self
        low, high = _edges(self.number)
        return Affine(self.number, self.strides, self.shape, low, high)

    def plus(self, other: Affine) -> Affine:
        """The sum; the shapes are the same."""
        number, strides = _sum(self.number, other.number), tuple(map(add, self.strides, other.strides))
        if isinstance(number, Progression):
            return Affine(number, strides, self.shape, *number.bounds)
        return Affine(number, strides, self.shape, self.low + other.low, self.high + other.high)

    def minus(self, other: Affine) -> Affine:
        """The difference; the shapes are the same."""
        return self.plus(other.times(-1))

    def times(self, factor: int) -> Affine:
        """The product with one integer."""
        number = self.number.times(factor) if isinstance(self.number, Progression) else self.number * factor
        low, high = self.low * factor, self.high * factor
        if factor < 0:
            low, high = high, low
        return Affine(number, tuple([stride * factor for stride in self.strides]), self.shape, low, high)

    def product(self, other: Affine) -> Affine | None:
        """The product where that is affine: one is uniform, or both are constant over the lanes."""
        if other.is_uniform:
            return self.times(other.value)
        if self.is_uniform:
            return other.times(self.value)
        if any(self.strides) or any(other.strides):
            return None
        edges = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Affine(base_of(self.number) * base_of(other.number), self.strides, self.shape, min(edges), max(edges))

    # -- shapes ----------------------------------------------------------------------------------------------------

    def splat(self, shape: tuple[int, ...]) -> Affine:
        """A scalar in every lane."""
        return Affine(self.number, (0,) * len(shape), shape, self.low, self.high)

    def expand(self, axis: int) -> Affine:
        """With an axis of size 1 more."""
        strides = (*self.strides[:axis], 0, *self.strides[axis:])
        return Affine(self.number, strides, (*self.shape[:axis], 1, *self.shape[axis:]), self.low, self.high)

    def broadcast(self, shape: tuple[int, ...]) -> Affine:
        """With its axes of size 1 as long as the shape says."""
        strides = tuple(0 if was == 1 else s for s, was in zip(self.strides, self.shape, strict=True))
        return Affine(self.number, strides, shape, self.low, self.high)

    def permute(self, order: tuple[int, ...]) -> Affine:
        """With the axes in another order."""
        strides, shape = tuple(self.strides[i] for i in order), tuple(self.shape[i] for i in order)
        return Affine(self.number, strides, shape, self.low, self.high)

    # -- programs --------------------------------------------------------------------------------------------------

    def take(self, index: Places) -> Affine:
        """Of the programs at these places."""
        number = self.number
        if isinstance(number, int):
            return self
        taken = number.take(index) if isinstance(number, Progression) else number[index]
        if isinstance(taken, torch.Tensor):
            return Affine(taken, self.strides, self.shape, self.low, self.high)
        low, high = (taken, taken) if isinstance(taken, int) else taken.bounds
        return Affine(taken, self.strides, self.shape, low, high)

    def tensor(self, dtype: torch.dtype) -> torch.Tensor:
        """Every element, of shape (programs or 1, *sizes or 1), wrapped to the dtype."""
        rank = len(self.shape)
        number = self.number
        parts: list[torch.Tensor] = []
        for axis, (stride, size) in enumerate(zip(self.strides, self.shape, strict=True), 1):
            if stride and size > 1:
                first = 0
                if isinstance(number, int):  # the first line takes it in
                    first, number = number, 0
                parts.append(_along(_line(first, stride, size), axis, rank))
        if not parts or not isinstance(number, int):
            base = torch.tensor([_wrapped(number)]) if isinstance(number, int) else base_of(number)
            parts.append(_along(base, 0, rank))
        return reduce(add, parts).to(dtype)


def _along(line: torch.Tensor, axis: int, rank: int) -> torch.Tensor:
    """Numbers along one axis of programs or lanes."""
    return line.reshape([-1 if each == axis else 1 for each in range(rank + 1)])
