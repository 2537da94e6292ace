"""Rounding to narrower floats, once: where torch rounds twice, the first of the two is to odd."""

from __future__ import annotations

import torch
from torch import Tensor

BITS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}
"""The integers that hold a float's bits."""


def narrow(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x` rounded to nearest, ties to even, in `dtype`; from float64 torch goes by way of float32."""
    if x.dtype != torch.float64 or dtype not in (torch.float16, torch.bfloat16):
        return x.to(dtype)
    single = x.to(torch.float32)
    inexact = single.double() != x
    if not inexact.any():
        return single.to(dtype)
    return to_odd(x).to(dtype)


def to_odd(x: Tensor) -> Tensor:
    """float64 in float32: what lies between two neighbours becomes the odd one, so that rounding again is harmless."""
    single = x.to(torch.float32)
    bits = single.view(torch.int32)
    wide = single.double()
    toward_zero = bits - (wide.abs() > x.abs()).to(torch.int32)
    odd = torch.where((wide == x) | x.isnan(), bits, toward_zero | 1)
    return odd.view(torch.float32)


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
