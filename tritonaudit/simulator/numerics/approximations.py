"""Approximate instructions of float32 (`rcp.approx`, `ex2.approx`, `div.full`, ...), bit by bit as on an H100.

The units that compute them look up three coefficients by the argument's leading bits and interpolate quadratically in
whole numbers (Oberman and Siu: A High-Performance Area-Efficient Multifunction Interpolator, ARITH 2005). The square of
the bits behind those leaves out the lower columns of its partial products. What follows is equal to the outputs of an
H100 for all arguments of an octave or two, and for random ones elsewhere (`bench/approximations`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import torch
from torch import Tensor

from tritonaudit.simulator.numerics import segments

_FRACTION = 23
_ONE = 1 << _FRACTION
_TINY = 2.0**-126
_LARGE = 2.0**126
_GROWTH = 2.0**24
_LEFT_OUT = 19
"""Columns of the square of 17 bits that are not summed."""


@dataclass(frozen=True, eq=False)
class _Interpolation:
    """Coefficients by segment. The result is in units of the last place, of which `places` more are computed.

    Constants are in quarters, above them `bias` of the places; `linear` and `quadratic` are the units of the others.
    """

    rows: segments.Rows
    index_bits: int
    places: int
    bias: int
    linear: int
    quadratic: int

    def __call__(self, segment: Tensor, rest: Tensor) -> Tensor:
        """The result for the bits of the argument behind those that the segment stands for; both int64."""
        constant, linear, quadratic = self._coefficients
        square = _squares(_FRACTION - self.index_bits)[rest]
        total = constant[segment] + linear[segment] * rest + quadratic[segment] * square
        return total >> self.places

    @cached_property
    def _coefficients(self) -> tuple[Tensor, Tensor, Tensor]:
        constant, linear, quadratic = torch.tensor(self.rows).unbind(1)
        return (constant << (self.places - 2)) + self.bias, linear * self.linear, quadratic * self.quadratic


@cache
def _squares(bits: int) -> Tensor:
    """The squares of all numbers of so many bits without the columns left out, in units of the first that is not."""
    numbers = torch.arange(1 << bits)
    left_out = _LEFT_OUT - 2 * (17 - bits)
    total = torch.zeros_like(numbers)
    for low in range(bits):
        for high in range(low, bits):
            column = low + high + (low != high)
            if column >= left_out:
                total += ((numbers >> low) & (numbers >> high) & 1) << (column - left_out)
    return total


_RECIPROCAL = _Interpolation(segments.RECIPROCAL, 7, 16, 4047, 2, 2)
_RECIPROCAL_ROOT = _Interpolation(segments.RECIPROCAL_ROOT, 6, 17, 32767, 2, 8)
_ROOT = _Interpolation(segments.ROOT, 6, 18, 65535, 2, 4)
_POWER_OF_TWO = _Interpolation(segments.POWER_OF_TWO, 6, 17, 24457, 4, 4)


def reciprocal(x: Tensor, flushes: bool) -> Tensor:
    """`rcp.approx`, with `.ftz` if it flushes."""
    if not flushes:
        scale = _scale(x)
        return scale * reciprocal(x * scale, True)
    mantissa, exponent = _parts(x)
    found = _RECIPROCAL(mantissa >> 16, mantissa & 0xFFFF)
    return _special(_number(found, -exponent - 24), x, zero=torch.inf, infinite=0.0).copysign(x)


def reciprocal_root(x: Tensor, flushes: bool) -> Tensor:
    """`rsqrt.approx`."""
    return _rooted(x, flushes, _inverse_root, 2.0**12)


def root(x: Tensor, flushes: bool) -> Tensor:
    """`sqrt.approx`."""
    return _rooted(x, flushes, _plain_root, 2.0**-12)


def power_of_two(x: Tensor, flushes: bool) -> Tensor:
    """`ex2.approx`; without `.ftz`, what is below the normal numbers is the square of its root."""
    if flushes:
        return _exponential(x)
    low = x < -126
    if not bool(low.any()):
        return _exponential(x)
    found = _exponential(torch.where(low, x * 0.5, x))
    return torch.where(low, found * found, found)


def quotient(a: Tensor, b: Tensor, flushes: bool) -> Tensor:
    """`div.full`: the product with the reciprocal, both numbers scaled where that would leave the normal ones.

    The steps of this and of the next ones are those of the machine code that ptxas 12.8 makes for sm_90.
    """
    if flushes:
        scale = torch.where(b.abs() > _LARGE, 0.25, 1.0)
        return flushed(flushed(flushed(a) * scale) * reciprocal(b * scale, True))
    return _scaled_quotient(a, b, _scale(b))


def fast_quotient(a: Tensor, b: Tensor, flushes: bool) -> Tensor:
    """`div.approx`."""
    if flushes:
        return flushed(flushed(a) * reciprocal(b, True))
    return _scaled_quotient(a, b, torch.where(b.abs() < _TINY, _GROWTH, 1.0))


def flushed(x: Tensor) -> Tensor:
    """Zeros of their sign for subnormal numbers."""
    return torch.where(x.abs() < _TINY, x * 0, x)


def _scale(x: Tensor) -> Tensor:
    """What leaves a number normal, and its reciprocal."""
    size = x.abs()
    return torch.where(size > _LARGE, 0.25, torch.where(size < _TINY, _GROWTH, 1.0))


def _scaled_quotient(a: Tensor, b: Tensor, scale: Tensor) -> Tensor:
    return (a * scale) * reciprocal(b * scale, True)


def _exponential(x: Tensor) -> Tensor:
    """Two to the power of `x`, whose fraction is cut to 23 bits; what is no normal number is 0.

    Of a negative number the bits are inverted, without the one that would make it a complement, unless it is whole.
    """
    steps = (x.double().abs().clamp(max=256).nan_to_num() * _ONE).to(torch.int64)
    inverted = torch.where(steps & (_ONE - 1) != 0, ~steps, -steps)
    steps = torch.where(x < 0, inverted, steps)
    part = steps & (_ONE - 1)
    found = _number(_POWER_OF_TWO(part >> 17, part & 0x1FFFF), (steps >> _FRACTION) - _FRACTION)
    return torch.where(x.isnan(), x, found)


def _rooted(x: Tensor, flushes: bool, function: Callable[[Tensor], Tensor], back: float) -> Tensor:
    """Without `.ftz`, numbers below the normal ones are scaled first."""
    if flushes:
        return function(x)
    low = x.abs() < _TINY
    if not bool(low.any()):
        return function(x)
    return torch.where(low, function(x * _GROWTH) * back, function(x))


def _inverse_root(x: Tensor) -> Tensor:
    mantissa, exponent = _parts(x)
    half = exponent >> 1
    found = _RECIPROCAL_ROOT((mantissa >> 17) | ((exponent & 1) << 6), mantissa & 0x1FFFF)
    is_power_of_four = (mantissa == 0) & (exponent & 1 == 0)
    found = torch.where(is_power_of_four, 1 << 24, found)
    result = _special(_number(found, -half - 24), x, zero=torch.inf, infinite=0.0)
    result = result.copysign(x)
    return torch.where(x <= -_TINY, torch.nan, result)


def _plain_root(x: Tensor) -> Tensor:
    mantissa, exponent = _parts(x)
    half = exponent >> 1
    found = _ROOT((mantissa >> 17) | ((exponent & 1) << 6), mantissa & 0x1FFFF)
    result = _special(_number(found, half - _FRACTION), x, zero=0.0, infinite=torch.inf).copysign(x)
    return torch.where(x <= -_TINY, torch.nan, result)


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    """The bits of the fraction, and the exponent of the leading one."""
    bits = x.contiguous().view(torch.int32).to(torch.int64)
    return bits & (_ONE - 1), ((bits >> _FRACTION) & 0xFF) - 127


def _number(whole: Tensor, exponent: Tensor) -> Tensor:
    """`whole * 2**exponent` in float32, 0 where that is no normal number."""
    power = ((exponent + 1023) << 52).view(torch.float64)
    found = (whole.double() * power).to(torch.float32)
    return torch.where(found < _TINY, 0, found)


def _special(found: Tensor, x: Tensor, zero: float, infinite: float) -> Tensor:
    """What is subnormal counts as 0."""
    size = x.abs()
    found = torch.where(size < _TINY, zero, torch.where(size == torch.inf, infinite, found))
    return torch.where(x.isnan(), x, found)
