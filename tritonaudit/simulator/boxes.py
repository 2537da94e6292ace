"""Masks that hold in an interval of lanes along each axis, kept as the intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import torch

from tritonaudit.simulator.affine import Affine, Base, Places

Interval: TypeAlias = "tuple[Base, Base] | None"
"""From the first lane to behind the last, for all programs or for each; None for all lanes."""

_MOST_RUNS = 4
"""Of programs in a row that have the same box: so many are taken one after the other."""


@dataclass(eq=False)
class Box:
    """The lanes of a block of that shape that lie in every axis' interval."""

    intervals: tuple[Interval, ...]
    shape: tuple[int, ...]

    @property
    def is_full(self) -> bool:
        return self.intervals.count(None) == len(self.intervals)

    @property
    def is_empty(self) -> bool:
        """Whether it is known to hold nowhere."""
        for interval in self.intervals:
            if interval is None or not (isinstance(interval[0], int) and isinstance(interval[1], int)):
                continue
            if interval[0] >= interval[1]:
                return True
        return False

    @property
    def is_uniform(self) -> bool:
        """Whether it is the same for all programs."""
        for interval in self.intervals:
            if interval is not None and not (isinstance(interval[0], int) and isinstance(interval[1], int)):
                return False
        return True

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The lanes along each axis, of a uniform box."""
        return tuple(
            slice(None) if interval is None else slice(int(interval[0]), max(int(interval[0]), int(interval[1])))
            for interval in self.intervals
        )

    def bounds(self) -> list[tuple[Base, Base]]:
        """The interval of every axis."""
        return [(0, n) if i is None else i for i, n in zip(self.intervals, self.shape, strict=True)]

    def both(self, other: Box) -> Box:
        """Where both hold."""
        if other is self:
            return self
        pairs = zip(self.intervals, other.intervals, strict=True)
        return Box(tuple(_narrower(one, two) for one, two in pairs), self.shape)

    def is_within(self, other: Box) -> bool:
        """Whether it is known to hold only where the other holds."""
        if other is self or self.is_empty:
            return True
        pairs = zip(self.bounds(), other.intervals, strict=True)
        return all(
            inner is None or (_known_le(inner[0], low) and _known_le(high, inner[1])) for (low, high), inner in pairs
        )

    def nowhere(self) -> Box:
        """The box of that shape that holds in no lane."""
        return Box(((0, 0), *self.intervals[1:]), self.shape)

    # -- shapes ----------------------------------------------------------------------------------------------------

    def expand(self, axis: int) -> Box:
        return Box((*self.intervals[:axis], None, *self.intervals[axis:]), (*self.shape[:axis], 1, *self.shape[axis:]))

    def broadcast(self, shape: tuple[int, ...]) -> Box | None:
        """None where an axis of size 1 that is restricted grows."""
        if any(i is not None and was != is_ for i, was, is_ in zip(self.intervals, self.shape, shape, strict=True)):
            return None
        return Box(self.intervals, shape)

    def permute(self, order: tuple[int, ...]) -> Box:
        return Box(tuple(self.intervals[i] for i in order), tuple(self.shape[i] for i in order))

    # -- programs --------------------------------------------------------------------------------------------------

    @cached_property
    def runs(self) -> tuple[tuple[slice, Box], ...] | None:
        """The programs in a row that it is the same for, each with a uniform box; None where there are many of them."""
        edges = [edge for i in self.intervals if i is not None for edge in i if isinstance(edge, torch.Tensor)]
        if not edges or not len(edges[0]) or any(len(edge) != len(edges[0]) for edge in edges):
            return None
        changes = edges[0][1:] != edges[0][:-1]
        for edge in edges[1:]:
            changes = changes | (edge[1:] != edge[:-1])
        last = [place for (place,) in changes.nonzero().tolist()]
        if len(last) >= _MOST_RUNS:
            return None
        starts, stops = [0, *(place + 1 for place in last)], [*(place + 1 for place in last), len(edges[0])]
        return tuple((slice(start, stop), self._at(start)) for start, stop in zip(starts, stops, strict=True))

    def _at(self, place: int) -> Box:
        """That of one program."""
        intervals = [i and (_of(i[0], place), _of(i[1], place)) for i in self.intervals]
        return Box(tuple(map(_full_as_none, intervals, self.shape)), self.shape)

    def take(self, index: Places) -> Box:
        """Of the programs at these places."""
        return Box(tuple(i and (_taken(i[0], index), _taken(i[1], index)) for i in self.intervals), self.shape)

    def simplified(self) -> Box:
        """The same with intervals that are alike for all programs as numbers."""
        return Box(
            tuple(
                _full_as_none(i and (_single(i[0]), _single(i[1])), n)
                for i, n in zip(self.intervals, self.shape, strict=True)
            ),
            self.shape,
        )

    def fills(self, programs: int) -> torch.Tensor:
        """For which programs it holds in all lanes; of shape (programs,)."""
        full = torch.ones(programs, dtype=torch.bool)
        for (low, high), size in zip(self.bounds(), self.shape, strict=True):
            full &= torch.as_tensor(low <= 0)
            full &= torch.as_tensor(high >= size)
        return full

    def is_empty_for(self, programs: int) -> torch.Tensor:
        """For which programs it holds in no lane; of shape (programs,)."""
        empty = torch.zeros(programs, dtype=torch.bool)
        for low, high in self.bounds():
            empty |= torch.as_tensor(high <= low)
        return empty

    def tensor(self) -> torch.Tensor:
        """Every lane's truth, of shape (programs or 1, *sizes or 1)."""
        rank = len(self.shape)
        found = torch.ones([1] * (rank + 1), dtype=torch.bool)
        for axis, (interval, size) in enumerate(zip(self.intervals, self.shape, strict=True)):
            if interval is not None:
                lanes = torch.arange(size).reshape([size if i == axis + 1 else 1 for i in range(rank + 1)])
                low, high = (_column(edge, rank) for edge in interval)
                found = found & (lanes >= low) & (lanes < high)
        return found


def box_where_negative(difference: Affine) -> Box | bool | None:
    """Where an affine value is below 0: everywhere or nowhere, in a box, or None where it takes more to tell."""
    low, high = difference.bounds
    if high >= 0 > low:
        low, high = difference.exact().bounds
    if high < 0:
        return True
    if low >= 0:
        return False
    axes = [axis for axis, stride in enumerate(difference.strides) if stride and difference.shape[axis] > 1]
    if len(axes) != 1:
        return None
    (axis,) = axes
    base, stride, size = difference.base, difference.strides[axis], difference.shape[axis]
    intervals: list[Interval] = [None] * len(difference.shape)
    if stride > 0:
        intervals[axis] = (0, _clamped(-(base // stride), size))
    else:
        intervals[axis] = (_clamped(base // -stride + 1, size), size)
    return Box(tuple(_full_as_none(i, n) for i, n in zip(intervals, difference.shape, strict=True)), difference.shape)


def _full_as_none(interval: Interval, size: int) -> Interval:
    if interval is None:
        return None
    low, high = interval
    whole = isinstance(low, int) and isinstance(high, int) and low <= 0 and high >= size
    return None if whole else interval


def _of(number: Base, place: int) -> int:
    return number if isinstance(number, int) else int(number[place])


def _single(number: Base) -> Base:
    if isinstance(number, int) or bool((number != number[0]).any()):
        return number
    return int(number[0])


def _clamped(number: Base, size: int) -> Base:
    return min(max(number, 0), size) if isinstance(number, int) else number.clamp(0, size)


def _narrower(one: Interval, two: Interval) -> Interval:
    if one is None or two is None:
        return one or two
    if one is two:
        return one
    return _greater(one[0], two[0]), _smaller(one[1], two[1])


def _greater(a: Base, b: Base) -> Base:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return torch.maximum(torch.as_tensor(a), torch.as_tensor(b))


def _smaller(a: Base, b: Base) -> Base:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return torch.minimum(torch.as_tensor(a), torch.as_tensor(b))


def _known_le(a: Base, b: Base) -> bool:
    if a is b:
        return True
    return a <= b if isinstance(a, int) and isinstance(b, int) else bool(torch.all(torch.as_tensor(a <= b)))


def _taken(number: Base, index: Places) -> Base:
    return number if isinstance(number, int) else number[index]


def _column(number: Base, rank: int) -> torch.Tensor | int:
    return number if isinstance(number, int) else number.reshape(-1, *([1] * rank))
