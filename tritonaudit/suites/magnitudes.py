"""What depends on how large the elements of a tensor are: the distance between numbers, and what is usual beside it."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy
import torch

Tensor: TypeAlias = torch.Tensor

_POOL = 32
"""Elements of which at least a group is made."""
_NONE = -1074
"""In the place of an exponent of zero: just below those of the smallest numbers of float64."""
_EXPONENTS = 1024 - _NONE + 1
"""How many exponents there are."""


class Groups:
    """The elements in groups of similar magnitude: of the same power of two, or of several where they are few.

    Only those at `places` count, or all. What is the same for a power of two is looked up.
    """

    def __init__(self, magnitude: Tensor, places: Tensor | None) -> None:
        self._exponents = torch.arange(_NONE, _NONE + _EXPONENTS, dtype=torch.int32, device=magnitude.device)
        self._exponent = (torch.frexp(magnitude).exponent - _NONE).clamp_(0, _EXPONENTS - 1)
        self._exponent.masked_fill_(~(magnitude > 0), 0)
        counted = self._exponent if places is None else self._exponent.index_select(0, places)
        bounds, self._sizes = _pooled(torch.bincount(counted, minlength=_EXPONENTS))
        self._groups = torch.bucketize(self._exponents - _NONE, self._exponents.new_tensor(bounds))
        group = self._groups.to(_narrow(len(self._sizes))).index_select(0, counted)
        order = _order(group)
        self._order = order if places is None else places.index_select(0, order)

    def rounding(self, dtype: Any) -> Tensor:
        """For each element half of the distance between the dtype's numbers at its magnitude.

        It is more of float64, which the reference has.
        """
        info = torch.finfo(dtype)
        exponents = self._exponents.clamp_min(math.frexp(info.smallest_normal)[1])
        half = torch.full(exponents.shape, info.eps / 2, dtype=torch.float64, device=exponents.device)
        half = torch.ldexp(half, exponents - 1)
        half = (half * 4 if dtype == torch.float64 else half).clamp_min(2.0**-1074)
        return half.index_select(0, self._exponent)

    def typical(self, numbers: Tensor) -> Tensor:
        """For each element the largest number of its group but for a tenth of them, where something may jump."""
        groups = numbers.index_select(0, self._order).split(self._sizes)
        found = torch.stack([_but_for_a_tenth(group) for group in groups])
        return found.index_select(0, self._groups).index_select(0, self._exponent)


def _pooled(counts: Tensor) -> tuple[list[int], list[int]]:
    """The bounds between groups, and their sizes: from the smallest exponent up, one ends when it is large enough."""
    present = counts.nonzero().flatten()
    bounds: list[int] = []
    sizes: list[int] = []
    waiting = 0
    for exponent, count in torch.stack([present, counts.index_select(0, present)], 1).tolist():
        waiting += count
        if waiting >= _POOL:
            bounds.append(exponent)
            sizes.append(waiting)
            waiting = 0
    if not sizes:
        return [], [waiting]
    # those above the last bound are too few, and join the last group
    return bounds[:-1], [*sizes[:-1], sizes[-1] + waiting]


def _order(numbers: Tensor) -> Tensor:
    """The places of small integers from the smallest to the largest number."""
    if numbers.is_cuda:
        return numbers.argsort()
    return torch.from_numpy(numbers.numpy().argsort(kind="stable"))  # by digits, which torch does not do


def _narrow(number: int) -> Any:
    """A type for so many different numbers, of which narrow ones are sorted fast."""
    return torch.uint8 if number <= 256 else torch.int16


def _but_for_a_tenth(numbers: Tensor) -> Tensor:
    """The largest number but for a tenth of them, 0 of none."""
    if not len(numbers):
        return numbers.new_zeros(())
    place = len(numbers) - len(numbers) // 10 - 1
    if numbers.is_cuda:  # where `kthvalue` raises if users ask for deterministic algorithms
        return numbers.sort().values[place]
    return numbers.new_tensor(numpy.partition(numbers.numpy(), place)[place])  # a fifth of the time of `kthvalue`
