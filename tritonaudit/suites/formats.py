"""What numbers a floating dtype has, and how finely a kernel computes them."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import torch

Tensor: TypeAlias = torch.Tensor


def nearest(numbers: Tensor, dtype: Any) -> Tensor:
    """The nearest numbers of the dtype, in float64; what has no infinity to go to becomes its largest."""
    most = top(dtype)
    has_infinity = most > torch.finfo(dtype).max
    return (numbers if has_infinity else numbers.clamp(-most, most)).to(dtype).double()


def top(dtype: Any) -> float:
    """What an infinity counts as where a finite number is wanted: the first power of two that the dtype does not have.

    The largest number of a dtype that has no infinity.
    """
    most = float(torch.finfo(dtype).max)
    has_infinity = bool(torch.tensor(math.inf).to(dtype).double().isinf())
    if dtype == torch.float64 or not has_infinity:
        return most
    return 2.0 ** math.frexp(most)[1]


def unit(dtype: Any) -> float:
    """A rounding, relative, in which a kernel computes numbers of the dtype."""
    return 2.0**-53 if dtype in (torch.float64, torch.complex128) else 2.0**-24


def is_inexact(tensor: Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def wide(tensor: Tensor) -> Tensor:
    """The same in float64, or complex128; integers and booleans as they are."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def is_constant(tensor: Tensor) -> bool:
    """Whether there are several elements, and all of them are alike."""
    numbers = wide(tensor).flatten()
    return len(numbers) > 1 and bool((numbers == numbers[0]).all())


def on(tensor: Tensor, device: Any) -> Tensor:
    """The numbers themselves, on a device: no gradient, nothing left to be negated or conjugated."""
    return tensor.detach().to(device).resolve_conj().resolve_neg()


def flat(tensor: Tensor) -> Tensor:
    """The numbers in a row, the parts of complex ones side by side."""
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).flatten()
