"""How far off each element of a result may be.

What could not be better is the measure: one rounding of the output, the error that PyTorch makes in the same dtype,
that of tensor cores, which multiply narrow numbers and add up wide ones, and how far the result moves when the inputs
move by a rounding of float32 (measured on perturbed inputs, so it is known for any operation: growth with the square
root of the length, cancellation). Each of these is also pooled over elements of similar magnitude, since one draw may
be small by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import torch

from tritonaudit.suites.expected import Expected, Values, distinct
from tritonaudit.suites.formats import flat, nearest, unit
from tritonaudit.suites.magnitudes import Groups

Tensor: TypeAlias = torch.Tensor

FEW, MANY = 8, 64
"""Distinct numbers that must be rounded more than once to be more than chance, and to prove something."""
PASS_RMS = 3.0
"""Times the budget that the errors of many elements may be."""

_ROUNDING, _NOISE, _SAME, _BACKWARD = 1 / 4, 4.0, 1 / 2, 1 / 32
"""What of each kind of error goes into the budget."""
_ONE_SIDED = 256.0
"""Roundings that prove nothing where all elements are alike: in a sum of equal numbers they all go one way."""


@dataclass(frozen=True, eq=False)
class Budgets:
    """The budgets of results of each dtype beside the same references: computed once."""

    expected: Expected
    _ordinary: dict[Any, Budget] = field(default_factory=dict)

    def of(self, output: Tensor, left: Tensor | None = None) -> tuple[Tensor, Budget]:
        """A result's elements as those of the references are, and the budget of each; those `left` are not judged."""
        got, values = self.expected.beside_result(output, left)
        if values.apart is not None:
            return got, _budget(values)
        if values.dtype not in self._ordinary:
            self._ordinary[values.dtype] = _budget(values)
        return got, self._ordinary[values.dtype]


@dataclass(frozen=True, eq=False)
class Budget:
    """For each element what `passes`, half the distance between numbers there, the noise, and how far it, or most that
    are like it, move."""

    values: Values
    passes: Tensor
    rounding: Tensor
    noise: Tensor
    moved: Tensor

    @cached_property
    def rms(self) -> float:
        return root_mean_square(self.values.of_judged(self.passes))

    @cached_property
    def proves(self) -> Tensor:
        """The budget below what proves a fault.

        As far as inputs that are rounded once more move it: more than need be, yet as products of narrow numbers do.
        """
        values = self.values
        moved_by = values.expected.moved_by or unit(values.dtype)
        backward = _BACKWARD * self.moved * max(torch.finfo(values.dtype).eps / 2 / moved_by, 1.0)
        if values.distinct(FEW) < FEW:
            backward = torch.maximum(backward, _ONE_SIDED * unit(values.dtype) * values.magnitude)
        return torch.maximum(self.passes, backward)

    @cached_property
    def conclusive(self) -> Tensor:
        """Which elements tell whether they were rounded again: where one rounding is far more than the noise."""
        return self.values.if_judged(self.rounding > 2 * _NOISE * self.noise)

    @cached_property
    def decisive(self) -> int:
        """How many of them there are."""
        return int(self.conclusive.sum())

    @cached_property
    def once(self) -> Tensor:
        """What one rounding and noise explain."""
        return self.rounding + _NOISE * self.noise

    def again(self, other: Tensor, error: Tensor) -> Again:
        """What of a result's elements, with their errors, is rounded more than once."""
        if not self.decisive:
            return Again()
        values = self.values
        places = (self.conclusive & (error > self.once)).nonzero().flatten()
        wanted = values.wanted.index_select(0, places)
        away = (other.index_select(0, places) - wanted).sign() * torch.where(wanted < 0, -1.0, 1.0)
        return Again(len(places) / self.decisive, distinct(wanted, MANY), float(away.sum()) / self.decisive)

    @cached_property
    def again_of_same(self) -> Again | None:
        """What of PyTorch's elements is."""
        same = self.values.expected.beside
        return None if same is None else self.again(same, self.values.error(same))

    @cached_property
    def again_in_products(self) -> Again:
        """What has narrow numbers in products has of them."""
        return self._most_again(self.values.expected.rounded.in_products)

    @cached_property
    def again_everywhere(self) -> Again:
        """What has narrow numbers everywhere has of them."""
        return self._most_again(self.values.expected.rounded.everywhere)

    def _most_again(self, others: Sequence[Tensor]) -> Again:
        results = [nearest(flat(one).double(), self.values.dtype) for one in others]
        found = [Again(), *(self.again(one, self.values.error(one)) for one in results)]
        return Again(max(one.share for one in found), bias=max((one.bias for one in found), key=abs))

    @cached_property
    def explains(self) -> Tensor:
        """The budget of what rounds each number on the way once, in the sums of which nothing is rounded.

        That may be meant so, and is no proof of a fault.
        """
        everywhere = self.values.expected.rounded.everywhere
        if not everywhere:
            return self.passes
        off = self.values.expected.farthest(everywhere)
        return torch.maximum(self.passes, _with_typical(off, self.values, _groups(self.values)) * _SAME)


def _budget(values: Values) -> Budget:
    fine = unit(values.dtype)
    groups = _groups(values)
    rounding = groups.rounding(values.dtype)
    moved = _with_typical(values.expected.moved, values, groups)
    floor = max(_floor(values.of_judged(values.magnitude), values.dtype), fine * values.expected.usual)
    noise = _raise(fine * values.magnitude, moved).clamp_min_(floor).mul_(_NOISE)
    passes = _raise(_ROUNDING * rounding, noise)
    for error in _of_others(values):
        _raise(passes, _with_typical(error, values, groups).mul_(_SAME))
    return Budget(values, passes, rounding, noise, moved)


def _groups(values: Values) -> Groups:
    return Groups(values.magnitude, None if values.apart is None else values.apart.places)


def _of_others(values: Values) -> Iterator[Tensor]:
    """How far off others are that need not be better."""
    expected = values.expected
    if expected.beside is not None:
        yield values.error(expected.beside)
    if expected.rounded.in_products:
        yield expected.farthest(expected.rounded.in_products)


def _with_typical(numbers: Tensor, values: Values, groups: Groups) -> Tensor:
    """Each number, or what is usual of elements like it."""
    return _raise(values.if_judged(groups.typical(numbers)), numbers)


@dataclass(frozen=True)
class Again:
    """Elements that are rounded more than once: their share of those that tell, how many distinct numbers they are, as
    far as `MANY`, and by how much the share of those too far from zero is the larger."""

    share: float = 0.0
    distinct: int = 0
    bias: float = 0.0


def root_mean_square(numbers: Tensor) -> float:
    """0 of none; the numbers are not negative."""
    if not numbers.numel():
        return 0.0
    most, norm = torch.stack([numbers.max(), torch.linalg.vector_norm(numbers)]).tolist()
    if 1e-100 < most < 1e100:  # no square is too large or too small
        return float(norm) / math.sqrt(numbers.numel())
    return most * math.sqrt(float((numbers / most).square().mean())) if 0 < most < math.inf else float(most)


def _floor(magnitude: Tensor, dtype: Any) -> float:
    """What no error need be below: a rounding of numbers of the usual magnitude, and what a GPU may flush."""
    smallest = float(torch.finfo(dtype).smallest_normal)
    flushed = smallest / (_NOISE * PASS_RMS) if dtype in (torch.float32, torch.bfloat16) else 0.0
    return max(unit(dtype) * root_mean_square(magnitude), flushed)


def _raise(numbers: Tensor, other: Tensor) -> Tensor:
    """The first tensor, each element now the larger of the two."""
    raised: Tensor = torch.maximum(numbers, other, out=numbers)
    return raised
