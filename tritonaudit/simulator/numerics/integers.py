"""Integer arithmetic of two's complement on torch's signed tensors, unsigned operations included.

Operands have one integer type (not bool) and broadcast against each other. Division by zero gives 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

_WIDER_MASK = {torch.int8: 0xFF, torch.int16: 0xFFFF, torch.int32: 0xFFFFFFFF}


def divide(a: Tensor, b: Tensor) -> Tensor:
    """The quotient rounded toward zero; the one that overflows wraps, which the processor would trap on."""
    if _is_positive(b):
        return torch.div(a, b, rounding_mode="trunc")
    special = (b == 0) | (b == -1)
    quotient = torch.div(a, torch.where(special, 1, b), rounding_mode="trunc")
    return torch.where(b == 0, 0, torch.where(b == -1, -a, quotient))


def remainder(a: Tensor, b: Tensor) -> Tensor:
    """What `divide` leaves, with the dividend's sign; 0 for a divisor of 0."""
    if _is_positive(b):
        return torch.fmod(a, b)
    special = (b == 0) | (b == -1)
    return torch.where(special, 0, torch.fmod(a, torch.where(special, 1, b)))


def divide_ceil(a: Tensor, b: Tensor) -> Tensor:
    quotient = divide(a, b)
    rest = remainder(a, b)
    return quotient + ((rest != 0) & ((rest < 0) == (b < 0))).to(a.dtype)


def divide_floor(a: Tensor, b: Tensor) -> Tensor:
    quotient = divide(a, b)
    rest = remainder(a, b)
    return quotient - ((rest != 0) & ((rest < 0) != (b < 0))).to(a.dtype)


def divide_unsigned(a: Tensor, b: Tensor) -> Tensor:
    if _is_non_negative(a) and _is_positive(b):
        return torch.div(a, b, rounding_mode="trunc")
    if a.dtype != torch.int64:
        return divide(as_unsigned(a), as_unsigned(b)).to(a.dtype)
    positive = torch.where(b > 0, b, 1)
    estimate = torch.div(_shifted_right(a, 1), positive, rounding_mode="trunc") << 1
    quotient = estimate + less_or_equal_unsigned(positive, a - estimate * positive).to(a.dtype)
    against_large = less_or_equal_unsigned(b, a).to(a.dtype)
    return torch.where(b == 0, 0, torch.where(b < 0, against_large, quotient))


def remainder_unsigned(a: Tensor, b: Tensor) -> Tensor:
    if _is_non_negative(a) and _is_positive(b):
        return torch.fmod(a, b)
    if a.dtype != torch.int64:
        return remainder(as_unsigned(a), as_unsigned(b)).to(a.dtype)
    return torch.where(b == 0, 0, a - divide_unsigned(a, b) * b)


def divide_ceil_unsigned(a: Tensor, b: Tensor) -> Tensor:
    return divide_unsigned(a, b) + (remainder_unsigned(a, b) != 0).to(a.dtype)


def shift_right_logical(a: Tensor, amount: Tensor) -> Tensor:
    """Zeros come in from the left; amounts of the width or more (unsigned) leave 0."""
    if _is_non_negative(a):
        return a >> amount
    if a.dtype != torch.int64:
        wide = as_unsigned(a) >> torch.where(amount < 0, 63, amount.to(torch.int64))
        return wide.to(a.dtype)
    inside = (amount > 0) & (amount < 64)
    shifted = (a >> amount) & (torch.iinfo(torch.int64).max >> (torch.where(inside, amount, 1) - 1))
    return torch.where(amount == 0, a, torch.where(inside, shifted, 0))


def multiply_high_unsigned(a: Tensor, b: Tensor) -> Tensor:
    """The upper half of the product of twice the width."""
    if a.dtype != torch.int64:
        width = 8 * a.dtype.itemsize
        return ((as_unsigned(a) * as_unsigned(b)) >> width).to(a.dtype)
    low = 0xFFFFFFFF
    a_high, a_low = _shifted_right(a, 32), a & low
    b_high, b_low = _shifted_right(b, 32), b & low
    middle = a_high * b_low + _shifted_right(a_low * b_low, 32)
    other = a_low * b_high + (middle & low)
    return a_high * b_high + _shifted_right(middle, 32) + _shifted_right(other, 32)


def multiply_high(a: Tensor, b: Tensor) -> Tensor:
    """The upper half of the signed product."""
    return multiply_high_unsigned(a, b) - torch.where(a < 0, b, 0) - torch.where(b < 0, a, 0)


def less_unsigned(a: Tensor, b: Tensor) -> Tensor:
    if _is_non_negative(a) and _is_non_negative(b):
        return a < b
    return ordered(a) < ordered(b)


def less_or_equal_unsigned(a: Tensor, b: Tensor) -> Tensor:
    if _is_non_negative(a) and _is_non_negative(b):
        return a <= b
    return ordered(a) <= ordered(b)


def maximum_unsigned(a: Tensor, b: Tensor) -> Tensor:
    return ordered(torch.maximum(ordered(a), ordered(b)))


def minimum_unsigned(a: Tensor, b: Tensor) -> Tensor:
    return ordered(torch.minimum(ordered(a), ordered(b)))


def ordered(a: Tensor) -> Tensor:
    """With the sign bit flipped, which makes signed order of unsigned; its own inverse."""
    return a ^ torch.iinfo(a.dtype).min


def as_unsigned(a: Tensor) -> Tensor:
    """The unsigned values of at most 32 bits, in int64."""
    return a.to(torch.int64) & _WIDER_MASK[a.dtype]


def leading_zeros(a: Tensor) -> Tensor:
    width = 8 * a.dtype.itemsize
    return width - _bit_length(a)


def trailing_zeros(a: Tensor) -> Tensor:
    """The number of zeros below the lowest bit that is set; the width where none is."""
    width = 8 * a.dtype.itemsize
    return torch.where(a == 0, width, _bit_length(a & -a) - 1)


def bits_set(a: Tensor) -> Tensor:
    return sum(((a >> place) & 1 for place in range(8 * a.dtype.itemsize)), start=torch.zeros_like(a))


def bits_reversed(a: Tensor) -> Tensor:
    width = 8 * a.dtype.itemsize
    reversed_ = torch.zeros_like(a)
    for place in range(width):
        reversed_ |= ((a >> place) & 1) << (width - 1 - place)
    return reversed_


def _bit_length(a: Tensor) -> Tensor:
    length = torch.zeros_like(a)
    for place in range(8 * a.dtype.itemsize):
        length = torch.where(((a >> place) & 1) != 0, place + 1, length)
    return length


def _shifted_right(a: Tensor, places: int) -> Tensor:
    """`a` of 64 bits, shifted by 1 or more places with zeros coming in."""
    return (a >> places) & ((1 << (64 - places)) - 1)


def _is_non_negative(a: Tensor) -> bool:
    return a.numel() == 0 or int(a.amin()) >= 0


def _is_positive(a: Tensor) -> bool:
    return a.numel() == 0 or int(a.amin()) > 0
