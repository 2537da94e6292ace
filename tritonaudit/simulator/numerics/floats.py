"""Minima, maxima, remainders and roots of floats by the rules of a GPU."""

from __future__ import annotations

import torch
from torch import Tensor

from tritonaudit.simulator.numerics.fma import fma, sqrt_of_doubles
from tritonaudit.simulator.numerics.places import anywhere

LOG2_E = 1.4426950408889634
power_of_two = anywhere(torch.exp2)


def maximum(a: Tensor, b: Tensor) -> Tensor:
    """NaN if either is; +0 is above -0."""
    larger = torch.maximum(a, b)
    return larger if _is_plain(larger) else _with_larger_zeros(larger, a, b)


def minimum(a: Tensor, b: Tensor) -> Tensor:
    """NaN if either is; -0 is below +0."""
    smaller = torch.minimum(a, b)
    return smaller if _is_plain(smaller) else -_with_larger_zeros(-smaller, -a, -b)


def maximum_number(a: Tensor, b: Tensor) -> Tensor:
    """The other one where one is NaN; +0 is above -0. Faster than torch.fmax where nothing is NaN."""
    larger = torch.maximum(a, b)
    return larger if _is_plain(larger) else _with_numbers(_with_larger_zeros(larger, a, b), a, b)


def minimum_number(a: Tensor, b: Tensor) -> Tensor:
    """The other one where one is NaN; -0 is below +0."""
    smaller = torch.minimum(a, b)
    return smaller if _is_plain(smaller) else _with_numbers(-_with_larger_zeros(-smaller, -a, -b), a, b)


def clamp(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """NaN becomes the lower bound."""
    return minimum_number(maximum_number(x, low), high)


def clamp_propagating(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return minimum(maximum(x, low), high)


def remainder(a: Tensor, b: Tensor) -> Tensor:
    """`a - trunc(a / b) * b` by a rounded quotient and one fused step, as LLVM lowers `frem` for NVIDIA's GPUs.

    Unlike C's fmod it is inexact for large quotients.
    """
    wide_a, wide_b = (a.float(), b.float()) if a.dtype.itemsize < 4 else (a, b)
    quotient = torch.trunc(wide_a / wide_b)
    rest = fma(-quotient, wide_b, wide_a)
    return torch.where(wide_b.isinf(), wide_a, rest).to(a.dtype)


def exponential(x: Tensor) -> Tensor:
    """In float32 as Triton lowers it for every GPU: two to the power of the rounded product with log2(e)."""
    return power_of_two(x * LOG2_E) if x.dtype == torch.float32 else torch.exp(x)


def square_root(x: Tensor) -> Tensor:
    """Correctly rounded, which torch.sqrt of float32 and float64 is not.

    Float32 by three rightly rounded steps in float64, faster than its root, that together err by less than 2^-51,
    which is how near the root of a number of 24 bits comes to one of 25.
    """
    if x.dtype == torch.float32:
        return torch.reciprocal(torch.rsqrt(x.double())).to(torch.float32)
    return sqrt_of_doubles(x) if x.dtype == torch.float64 else torch.sqrt(x)


def reciprocal_root(x: Tensor) -> Tensor:
    return torch.rsqrt(x.double()).to(torch.float32) if x.dtype == torch.float32 else torch.rsqrt(x)


def _is_plain(x: Tensor) -> bool:
    """Whether no element is 0 or NaN."""
    return x.numel() == 0 or float(x.abs().amin()) > 0


def _with_larger_zeros(larger: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Of two zeros the sum is -0 only where both are."""
    return torch.where((larger == 0) & (a == b), a + b, larger)


def _with_numbers(chosen: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The other operand where what was chosen is NaN."""
    return torch.where(chosen.isnan(), torch.where(a.isnan(), b, a), chosen)
