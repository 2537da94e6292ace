"""Minima, maxima, remainders and roots of floats by the rules of a GPU."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tritonaudit.simulate.numerics.fma import fma, sqrt_of_doubles

LOG2_E = 1.4426950408889634


def maximum(a: Tensor, b: Tensor) -> Tensor:
    """NaN if either is; +0 is above -0."""
    larger = torch.maximum(a, b)
    # The sum of two zeros is -0 only where both are.
    return torch.where((larger == 0) & (a == b), a + b, larger) if _has_zero(larger) else larger


def minimum(a: Tensor, b: Tensor) -> Tensor:
    """NaN if either is; -0 is below +0."""
    smaller = torch.minimum(a, b)
    return torch.where((smaller == 0) & (a == b), -(-a - b), smaller) if _has_zero(smaller) else smaller


def maximum_number(a: Tensor, b: Tensor) -> Tensor:
    """The other one where one is NaN; +0 is above -0. Faster than torch.fmax where nothing is NaN."""
    larger = maximum(a, b)
    return torch.where(larger.isnan(), _number(a, b), larger) if _has_nan(larger) else larger


def minimum_number(a: Tensor, b: Tensor) -> Tensor:
    """The other one where one is NaN; -0 is below +0."""
    smaller = minimum(a, b)
    return torch.where(smaller.isnan(), _number(a, b), smaller) if _has_nan(smaller) else smaller


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
    return torch.exp2(x * LOG2_E) if x.dtype == torch.float32 else torch.exp(x)


def square_root(x: Tensor) -> Tensor:
    """Correctly rounded, which torch.sqrt of float32 and float64 is not."""
    if x.dtype == torch.float64:
        return sqrt_of_doubles(x)
    return torch.sqrt(x.double()).to(torch.float32) if x.dtype == torch.float32 else torch.sqrt(x)


def reciprocal_root(x: Tensor) -> Tensor:
    return torch.rsqrt(x.double()).to(torch.float32) if x.dtype == torch.float32 else torch.rsqrt(x)


def _has_zero(x: Tensor) -> bool:
    return int(torch.count_nonzero(x)) < int(x.numel())


def _has_nan(x: Tensor) -> bool:
    """May be wrong for infinities of both signs, which costs time alone."""
    return math.isnan(float(x.sum(dtype=torch.float32 if x.dtype.itemsize < 4 else None)))


def _number(a: Tensor, b: Tensor) -> Tensor:
    return torch.where(a.isnan(), b, a)
