"""Rounding to narrower floats, once: where torch rounds twice, the first of the two loses nothing that counts."""

from __future__ import annotations

import torch
from torch import Tensor

BITS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}
"""The integers that hold a float's bits."""

_DROPPED = (1 << 38) - 1


def narrow(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x` rounded to nearest, ties to even, in `dtype`; from float64 torch goes by way of float32."""
    if x.dtype == torch.float64 and dtype in (torch.float16, torch.bfloat16):
        return few_bits(x).to(dtype)
    return x.to(dtype)


def few_bits(x: Tensor) -> Tensor:
    """float64 as float32 of 15 bits, the last of them set if any below was: narrower types round it alike."""
    bits = x.view(torch.int64)
    carried = (bits & _DROPPED) + _DROPPED
    return ((bits | carried) & ~_DROPPED).view(torch.float64).to(torch.float32)


def toward_zero(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x` in float16, bfloat16 or float32 without its further bits; what is finite stays finite."""
    nearest = narrow(x, dtype)
    beyond = nearest.to(torch.float64).abs() > x.to(torch.float64).abs()
    return (nearest.view(BITS[dtype]) - beyond.to(BITS[dtype])).view(dtype)


def upward(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x` in `dtype`, or the next above it."""
    nearest = narrow(x, dtype)
    below = nearest.to(torch.float64) < x.to(torch.float64)
    return torch.where(below, torch.nextafter(nearest, torch.full_like(nearest, torch.inf)), nearest)


def downward(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x` in `dtype`, or the next below it."""
    return -upward(-x, dtype)
