"""Fused multiply-add, rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import torch
from torch import Tensor

from tritonaudit.simulator.numerics.rounding import narrow

_BITS_OF_SINGLE = 35
"""Sign, exponent and fraction of a float64 as far as float32 has them."""

_TIE = -(1 << 63)
"""What is left of a float64 midway between two float32 without these."""

_SMALLEST_NORMAL_HALF = 2.0**-14
_SMALLEST_NORMAL_SINGLE = 2.0**-126

_SPLITTER = 2.0**27 + 1
_SAFE = (2.0**-400, 2.0**400)
"""Magnitudes between which nothing in the error-free transformations of float64 under- or overflows."""


def fma(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """`a * b + c` exactly, then rounded to nearest in their common type: float16, bfloat16, float32 or float64."""
    if not rounds_once(c.dtype if c.dtype.itemsize > 2 else torch.float32):
        return fma_in_steps(a, b, c)
    return torch.addcmul(c, a, b) if c.dtype.itemsize > 2 else _fma_of_halves(a, b, c)


def _fma_of_halves(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """By float32, rounded once more; the other way where that lies midway between two of the type."""
    total = torch.addcmul(c.to(torch.float32), a.to(torch.float32), b.to(torch.float32))
    result = total.to(c.dtype)
    bits = total.view(torch.int32)
    below, midway = (0xFFFF, 0x8000) if c.dtype == torch.bfloat16 else (0x1FFF, 0x1000)
    unsure = (bits & below) == midway
    if c.dtype == torch.float16 and total.numel() and float(total.abs().amin()) < _SMALLEST_NORMAL_HALF:
        unsure |= (total != 0) & (total.abs() < _SMALLEST_NORMAL_HALF)
    if bool(unsure.any()):
        result[unsure] = fma_in_steps(*(one.expand(total.shape)[unsure] for one in (a, b, c)))
    return result


@cache
def rounds_once(dtype: torch.dtype) -> bool:
    """Whether torch's own multiply-add is fused, which depends on its version and the processor.

    Many numbers in a row, a few and such as do not lie side by side are computed by different code.
    """
    for count, step in ((1, 1), (67, 1), (67, 3)):
        a = torch.full((count * step,), 1 + torch.finfo(dtype).eps * 3, dtype=dtype)[::step]
        c = -(a * a)
        exact = fma_in_steps(a, a, c)
        for factor in (a, a[:1]):
            if not torch.equal(torch.addcmul(c, a, factor), exact) or bool((exact == 0).any()):
                return False
    return True


def fma_in_steps(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """The same by operations that round on their own."""
    if a.dtype == torch.float64:
        return _fma_of_doubles(a, b, c)
    left, right, addend = a.double(), b.double(), c.double()
    total = torch.addcmul(addend, left, right)
    if a.dtype == torch.float16 or (a.dtype == torch.float32 and not _may_round_twice(total)):
        return narrow(total, a.dtype)
    return narrow(sum_to_odd(left * right, addend, total), a.dtype)


def sqrt_of_doubles(x: Tensor) -> Tensor:
    """The square root of float64, correctly rounded: torch's own may be the neighbour."""
    mantissa, exponent = torch.frexp(x)
    odd = exponent & 1
    scaled = mantissa * _power_of_two(odd)
    root = torch.sqrt(scaled)
    rest = _fma_of_doubles(-root, root, scaled)
    up = torch.nextafter(root, torch.full_like(root, torch.inf)) - root
    down = torch.nextafter(root, torch.zeros_like(root)) - root
    # The square of what lies half-way to a neighbour exceeds root's by a bit more than the root times the step.
    root = root + torch.where(rest > root * up, up, torch.where(rest <= root * down, down, 0))
    refined = root * _power_of_two((exponent - odd) >> 1)
    return torch.where((x > 0) & x.isfinite(), refined, torch.sqrt(x))


def _power_of_two(exponent: Tensor) -> Tensor:
    """Exactly, for exponents of normal float64; torch.ldexp goes by way of float32."""
    return ((exponent.to(torch.int64) + 1023) << 52).view(torch.float64)


def _may_round_twice(total: Tensor) -> bool:
    """Whether one of these sums in float64 lies midway between two float32, or where these are subnormal."""
    if total.numel() == 0:
        return False
    below_single = total.view(torch.int64) << _BITS_OF_SINGLE
    if int(below_single.amin()) == _TIE:
        return True
    magnitude = total.abs()
    if float(magnitude.amin()) >= _SMALLEST_NORMAL_SINGLE:
        return False
    return bool(((magnitude < _SMALLEST_NORMAL_SINGLE) & (magnitude > 0)).any())


def sum_to_odd(x: Tensor, y: Tensor, total: Tensor) -> Tensor:
    """`x + y`, whose rounded sum is `total`, rounded to odd, so that rounding to half the bits is the only rounding."""
    return made_odd(total, two_sum(x, y)[1])


def made_odd(total: Tensor, error: Tensor) -> Tensor:
    """float64 rounded to nearest, rounded to odd instead: `error` has the sign of what the rounding took away."""
    bits = total.view(torch.int64)
    outward = (error > 0) == (total > 0)
    moved = bits + torch.where(outward, 1, -1)
    inexact = (error != 0) & error.isfinite() & ((bits & 1) == 0)
    return torch.where(inexact, moved, bits).view(torch.float64)


def two_sum(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The rounded sum and its error, exactly (Knuth)."""
    total = x + y
    of_y = total - x
    return total, (x - (total - of_y)) + (y - of_y)


def _two_product(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The rounded product and its error, exactly (Veltkamp's splitting, Dekker's product)."""
    product = x * y
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _split(x: Tensor) -> tuple[Tensor, Tensor]:
    scaled = _SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


def _fma_of_doubles(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Boldo and Melquiond's emulation (IEEE Transactions on Computers 57, 2008); exact numbers where that may fail."""
    a, b, c = torch.broadcast_tensors(a, b, c)
    product, product_error = _two_product(a, b)
    high, low = two_sum(c, product_error)
    total, total_error = two_sum(product, high)
    result = total + sum_to_odd(total_error, low, total_error + low)
    unsafe = ~(_is_safe(a) & _is_safe(b) & _is_safe(c))
    if unsafe.any():
        exact = [_exact(*each) for each in zip(a[unsafe].tolist(), b[unsafe].tolist(), c[unsafe].tolist(), strict=True)]
        result[unsafe] = torch.tensor(exact, dtype=torch.float64)
    return torch.where((result == 0) & ~unsafe, a * b + c, result)


def _is_safe(x: Tensor) -> Tensor:
    magnitude = x.abs()
    return ((magnitude > _SAFE[0]) & (magnitude < _SAFE[1])) | (magnitude == 0)


def _exact(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total == 0:
        return a * b + c
    try:
        rounded = float(total)
    except OverflowError:
        rounded = math.inf
    return math.copysign(rounded, 1 if total > 0 else -1)
