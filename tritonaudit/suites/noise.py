"""Tensors that are a bit off, to see how much a result hangs on the last bit of what it is computed from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import torch

from tritonaudit.suites.formats import is_inexact, unit, wide

Tensor: TypeAlias = torch.Tensor

DRAWS = 4
"""How many perturbed references to make: with fewer, a scalar's movement is often small by chance."""

HALVES = (torch.bfloat16, torch.float16)
"""The coarser one first."""
OF_8_BITS = frozenset(
    getattr(torch, name)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    if hasattr(torch, name)
)
_UNIFORMS = 4
"""So many uniform numbers make up one that is about normal."""
_ODD = 0x1E3779B97F4A7C15
_LOW = (1 << 32) - 1
_ROUNDING_OF_8_BITS = 2.0**-14
"""Hopper's tensor cores keep about 14 bits of a sum of their products (DeepSeek-V3, arXiv 2412.19437, 3.5.2)."""


class Shared(Enum):
    """Which numbers of a tensor are off by the same: where they are equal, so are the errors of computing with them."""

    NOTHING = 0
    ROWS = 1
    COLUMNS = 2
    EQUALS = 3
    """Numbers that are equal, in whichever tensor; not those of a row that has no others."""


@dataclass(frozen=True)
class Noise:
    """By how much each number is off: a draw of random numbers, and which of them are the same.

    Draws come in pairs, the second the other way round: a tie that rounds up in one of them rounds down in the other.
    It may be of `only` one of the tensors: a variance that is zero stays so where what it divides is off.
    """

    draw: int
    shared: Shared = Shared.NOTHING
    only: int | None = None


class Normal:
    """Random numbers, which are drawn where they are used."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._generators: dict[Any, torch.Generator] = {}

    def like(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        device = tensor.device
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        # of float32 they are drawn five times as fast
        drawn = torch.randn(tuple(shape), dtype=torch.float32, device=device, generator=self._generators[device])
        return drawn.double()


def moved_by(dtypes: Iterable[Any], narrower: Set[Any]) -> float | None:
    """By how much such inputs are off at most, where some of them have 8 bits; None where it is a usual rounding."""
    return _ROUNDING_OF_8_BITS if OF_8_BITS.intersection(dtypes) & narrower else None


def perturb(tensors: Sequence[Tensor], noise: Noise) -> list[Tensor]:
    """The tensors in float64 (complex128), each number times 1 + u * N(0, 1); integers and booleans as they are.

    u is a rounding of float32, in which kernels compute whatever is narrower, and of float64 for float64. Zeros and
    what is not finite stay.
    """
    normal = Normal(noise.draw // 2)
    return [
        _off(tensor, noise, normal) if noise.only in (None, place) else wide(tensor)
        for place, tensor in enumerate(tensors)
    ]


def _off(tensor: Tensor, noise: Noise, normal: Normal) -> Tensor:
    if not is_inexact(tensor):
        return tensor
    if tensor.is_complex():
        return torch.view_as_complex(_off(torch.view_as_real(tensor.resolve_conj()), noise, normal).contiguous())
    random = normal.like(tensor, _drawn(tensor.shape, noise.shared))
    if noise.shared is Shared.EQUALS and tensor.dim() and tensor.numel():
        is_varied = tensor.amax(-1, keepdim=True) > tensor.amin(-1, keepdim=True)
        random = torch.where(is_varied, _by_value(tensor, noise.draw // 2), random)
    direction = -1 if noise.draw % 2 else 1
    rounding = _ROUNDING_OF_8_BITS if tensor.dtype in OF_8_BITS else unit(tensor.dtype)
    return tensor.double() * random.mul_(direction * rounding).add_(1)


def _drawn(shape: Sequence[int], shared: Shared) -> list[int]:
    """The shape of the random numbers: one for what is off by the same."""
    drawn = list(shape)
    if shared is Shared.ROWS and drawn:
        drawn[:-1] = [1] * (len(drawn) - 1)
    elif shared is Shared.COLUMNS and drawn:
        drawn[-1] = 1
    return drawn


def _by_value(tensor: Tensor, seed: int) -> Tensor:
    """Numbers of mean 0 and deviation 1, about normal, each of which hangs on an element's value and nothing else."""
    value = tensor.double() + 0.0  # zeros have one sign
    sums = torch.zeros_like(value)
    for place in range(_UNIFORMS):
        bits = value.view(torch.int64) + (seed * _UNIFORMS + place + 1) * _ODD
        for _ in range(2):
            bits = (bits ^ ((bits >> 32) & _LOW)) * _ODD
        sums += ((bits >> 32) & _LOW).double() / _LOW - 0.5
    return sums * math.sqrt(12 / _UNIFORMS)
