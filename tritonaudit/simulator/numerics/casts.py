"""Conversions between types, as the PTX instruction `cvt` rounds and saturates."""

from __future__ import annotations

import torch
from torch import Tensor

from tritonaudit.simulator.numerics.integers import as_unsigned
from tritonaudit.simulator.numerics.rounding import few_bits, narrow, toward_zero

_EXACT_IN_DOUBLE = 1 << 53
_BELOW_DOUBLE = (1 << 12) - 1

_LARGEST = {
    torch.float8_e4m3fn: 448.0,
    torch.float8_e5m2: 57344.0,
    torch.float8_e4m3fnuz: 240.0,
    torch.float8_e5m2fnuz: 57344.0,
}

FLOAT8 = frozenset(_LARGEST)


def extend_signed(x: Tensor, dtype: torch.dtype) -> Tensor:
    """A bit that is set is -1."""
    return -x.to(dtype) if x.dtype == torch.bool else x.to(dtype)


def extend_unsigned(x: Tensor, dtype: torch.dtype) -> Tensor:
    if x.dtype == torch.bool or x.dtype == torch.int64:
        return x.to(dtype)
    return as_unsigned(x).to(dtype)


def truncate(x: Tensor, dtype: torch.dtype) -> Tensor:
    return (x & 1).bool() if dtype == torch.bool else x.to(dtype)


def from_signed(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Signed integers to floats, rounded to nearest once; a bit that is set is -1."""
    if x.dtype == torch.bool:
        return -x.to(dtype)
    if dtype in (torch.float32, torch.float64) or x.dtype.itemsize < 4:
        return x.to(dtype)
    return narrow(_with_sticky_bit(x).double(), dtype)


def from_unsigned(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Unsigned integers to floats, rounded to nearest once."""
    if x.dtype == torch.bool:
        return x.to(dtype)
    if x.dtype != torch.int64:
        return from_signed(as_unsigned(x), dtype)
    halved = ((x >> 1) & torch.iinfo(torch.int64).max) | (x & 1)
    return torch.where(x < 0, 2 * from_signed(halved, dtype), from_signed(x, dtype))


def to_signed(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Floats toward zero to signed integers, saturated; to 8 bits by way of 16, which then wrap.

    NaN gives 0, or the least integer if either type has 64 bits (PTX ISA 9.0, `cvt`).
    """
    through = torch.int16 if dtype in (torch.int8, torch.bool) else dtype
    limits = torch.iinfo(through)
    if _within(x, float(limits.min), float(limits.max)):
        return truncate(x.to(through), dtype)
    wide = x.double()
    top = 2.0 ** (limits.bits - 1)
    inside = torch.where((wide > -top) & (wide < top), wide, 0).to(through)
    saturated = torch.where(wide >= top, limits.max, torch.where(wide <= -top, limits.min, inside))
    return truncate(torch.where(wide.isnan(), _of_nan(x.dtype, through), saturated), dtype)


def to_unsigned(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Floats toward zero to unsigned integers, saturated; to 8 bits by way of 16, which then wrap."""
    through = torch.int16 if dtype in (torch.int8, torch.bool) else dtype
    bits = torch.iinfo(through).bits
    if bits < 64 and _within(x, 0.0, float((1 << bits) - 1)):
        return truncate(x.to(torch.int64), dtype)
    wide = x.double()
    half, top = 2.0 ** (bits - 1), 2.0**bits
    positive = torch.where((wide > 0) & (wide < top), wide, 0)
    upper = positive >= half
    inside = torch.where(upper, positive - half, positive).to(torch.int64).to(through)
    saturated = torch.where(wide >= top, -1, torch.where(upper, inside ^ torch.iinfo(through).min, inside))
    return truncate(torch.where(wide.isnan(), _of_nan(x.dtype, through), saturated), dtype)


def between_floats(x: Tensor, dtype: torch.dtype) -> Tensor:
    """To nearest, ties to even, once; to 8 bits saturated, infinities too, as `cvt.rn.satfinite` does."""
    if dtype in FLOAT8:
        return _to_float8(x, dtype)
    return narrow(x.to(torch.float32) if x.dtype in FLOAT8 else x, dtype)


def between_floats_toward_zero(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Toward zero, to 16 bits or float8_e5m2, whose infinities stay."""
    if dtype != torch.float8_e5m2:
        return toward_zero(x, dtype)
    half = toward_zero(x, torch.float16).view(torch.int16)
    upper = torch.where(x.isnan(), 0x7F, half >> 8)
    return upper.to(torch.int8).view(torch.float8_e5m2)


def without_sign(x: Tensor) -> Tensor:
    """8-bit floats with their sign's bit cleared."""
    return (x.view(torch.int8) & 0x7F).view(x.dtype)


def _to_float8(x: Tensor, dtype: torch.dtype) -> Tensor:
    largest = _LARGEST[dtype]
    wide = x.to(torch.float32) if x.dtype != torch.float64 else few_bits(x)
    return wide.clamp(-largest, largest).to(dtype)


def _of_nan(source: torch.dtype, target: torch.dtype) -> int:
    return torch.iinfo(target).min if source == torch.float64 or target == torch.int64 else 0


def _within(x: Tensor, least: float, most: float) -> bool:
    """Whether all are strictly between the two, NaN being outside."""
    if x.numel() == 0:
        return True
    smallest, largest = torch.aminmax(x)
    return least < float(smallest) and float(largest) < most


def _with_sticky_bit(x: Tensor) -> Tensor:
    """Integers that float64 holds, and that round to 16 bits as those of `x` do."""
    if x.dtype != torch.int64:
        return x
    rounded = (x & ~_BELOW_DOUBLE) | (((x & _BELOW_DOUBLE) != 0).to(torch.int64) << 12)
    return torch.where((x < _EXACT_IN_DOUBLE) & (x > -_EXACT_IN_DOUBLE), x, rounded)
