"""Sums of products with the bits that the tensor cores of an H100 give.

An instruction takes a few of K at a time. Their products are exact; they and the accumulator are aligned to the
greatest exponent among them, cut off some bits below it, summed, and cut off again to the accumulator's type.
Fasi, Higham, Mikaitis and Pranesh found that by experiment (Numerical behavior of NVIDIA tensor cores, PeerJ Computer
Science 7, 2021) for GPUs before Hopper, which cuts off one bit later. `bench/tensor_cores` measures what is said here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.numerics.dot import parts_of_bf16, parts_of_tf32, truncated_to_tf32
from tritonaudit.simulator.numerics.fma import fma

_TILE = 1 << 16
"""Elements of the result that are computed at a time: what they need stays in the second-level cache."""
_SUMMED = 8
"""Products of less than 2^27 units that an int32 holds the sum of, with the accumulator."""
_NOWHERE = -2000
"""The exponent of 0: below all others, sums of two included."""
_MODERATE = 49
"""Products of numbers up to 2^this, and down to its inverse, are exact in float32 and so are they in units."""
_LARGEST, _LEAST = 2.0**100, 2.0 ** (-2 * _MODERATE)
"""Between these a sum is as exact in float32 and in units as the products are."""
_BIAS, _FRACTION, _EXPONENT = 127, 23, 0xFF << 23
"""Of a float32."""
_FRACTION_OF_DOUBLE = 52
_LEAST_OF = {torch.float16: -14, torch.float32: -126}


@dataclass(frozen=True)
class Instruction:
    """What multiplies blocks: for a group of four warps (wgmma), or for one (mma.sync).

    `width`: how many elements in a row of K a thread has there, which tells what of K comes together in a step.
    """

    is_for_group: bool
    width: int


@dataclass(frozen=True)
class _Cores:
    """What one instruction does.

    `length`: of K, how many it takes. `bits`: what is kept of each product, below the greatest exponent.
    `least`: the exponent of subnormal elements. `fraction`: the bits that a float32 keeps behind its first.
    `width`: of the elements, how many fill a register.
    """

    length: int
    width: int
    least: int = -126
    bits: int = 25
    fraction: int = _FRACTION


_TF32 = _Cores(8, 1)
_BF16 = _Cores(16, 2)
_F16 = _Cores(16, 2, least=-14)
_CORES = {"f16": _F16, "bf16": _BF16, "f8E4M3FN": _F16, "f8E5M2": _F16}
"""Of one warp: there elements of 8 bits are made float16 first."""
_CORES_FOR_GROUP = _CORES | {
    "f8E4M3FN": _Cores(32, 4, least=-6, bits=13, fraction=13),
    "f8E5M2": _Cores(32, 4, least=-14, bits=13, fraction=13),
}
_PARTS = {
    "tf32x3": ((1, 0), (0, 1), (0, 0)),
    "bf16x3": ((1, 0), (0, 1), (0, 0)),
    "bf16x6": ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0)),
}
"""Which parts of float32 are multiplied one after another, read in Triton 3.6's TTGIR."""


def dot(
    a: Tensor, b: Tensor, c: Tensor, types: Sequence[Type], precision: str, instruction: Instruction, longest: int = 0
) -> Tensor | None:
    """`a @ b + c` as `numerics.dot.dot`, with an instruction; None for types that are not modelled.

    `longest`: of K, after how many a product of 8-bit floats is added to a sum of its own (`max_num_imprecise_acc`).
    """
    of_a, of_b, of_c = types
    a, b = a.expand(-1, *of_a.shape), b.expand(-1, *of_b.shape)
    elements = {of_a.element, of_b.element}
    if elements == {"f32"}:
        return _singles(a, b, c, precision, instruction)
    if elements == {"f64"}:
        return _doubles(a, b, c)
    cores = (_CORES_FOR_GROUP if instruction.is_for_group else _CORES).get(of_a.element)
    if cores is None or of_b.element not in _CORES or of_c.element not in ("f16", "f32"):
        return None
    pair = _ordered(a.float(), b.float(), instruction, cores)
    if pair is None:
        return None
    if cores.fraction < _F16.fraction and of_c.element == "f32" and 0 < longest <= a.shape[-1]:
        return _in_sections(*pair, c, longest, cores)
    return _product(*pair, c, cores)


def dot_scaled(a: Tensor, b: Tensor, c: Tensor, is_half: bool, instruction: Instruction) -> Tensor | None:
    """`a @ b + c` of operands that have been multiplied by their scales, of bfloat16 or else of float16."""
    cores = _F16 if is_half else _BF16
    pair = _ordered(a, b, instruction, cores)
    return None if pair is None else _product(*pair, c, cores)


def _singles(a: Tensor, b: Tensor, c: Tensor, precision: str, instruction: Instruction) -> Tensor | None:
    if precision == "tf32":
        pair = _ordered(truncated_to_tf32(a), truncated_to_tf32(b), instruction, _TF32)
        return None if pair is None else _product(*pair, c, _TF32)
    if precision not in _PARTS:
        return None
    if precision == "tf32x3":
        parts = [[truncated_to_tf32(part) for part in parts_of_tf32(one)] for one in (a, b)]
        cores = _TF32
    else:
        parts = [parts_of_bf16(one, len(_PARTS[precision]) // 3 + 1) for one in (a, b)]
        cores = _BF16
    total = torch.zeros_like(c)
    for i, j in _PARTS[precision]:
        pair = _ordered(parts[0][i], parts[1][j], instruction, cores)
        if pair is None:
            return None
        total = _product(*pair, torch.where(total.isnan(), 0, total) if (i, j) == (0, 0) else total, cores)
    return total + c


def _doubles(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """One fused multiply-add for each of K in turn."""
    total = c
    for k in range(a.shape[-1]):
        total = fma(*torch.broadcast_tensors(a[..., k, None], b[..., None, k, :], total))
    return total


def _ordered(a: Tensor, b: Tensor, instruction: Instruction, cores: _Cores) -> tuple[Tensor, Tensor] | None:
    """Both with K in the order in which it comes to the instructions of one warp.

    Each of four threads has some elements in a row, and passes on as many at a time as a register holds.
    """
    if instruction.is_for_group or instruction.width == cores.width:
        return a, b
    times = instruction.width // cores.width
    if not times or a.shape[-1] % (times * cores.length):
        return None
    order = torch.arange(a.shape[-1]).view(-1, 2, 4, times, cores.width).permute(0, 3, 1, 2, 4).flatten()
    return a[..., order], b[..., order, :]


def _in_sections(a: Tensor, b: Tensor, c: Tensor, longest: int, cores: _Cores) -> Tensor:
    total = c
    for start in range(0, a.shape[-1], longest):
        ks = slice(start, start + longest)
        total = total + _product(a[..., ks], b[..., ks, :], torch.zeros_like(c), cores)
    return total


def _product(a: Tensor, b: Tensor, c: Tensor, cores: _Cores) -> Tensor:
    """`a @ b + c` in the type of `c`, float32 or float16.

    `a` is (..., M, K) and `b` (..., K, N), float32 that holds elements of a narrower type, `c` is (..., M, N). Axes
    before the last two broadcast.
    """
    shape = torch.broadcast_shapes((*a.shape[:-1], 1), (*b.shape[:-2], 1, b.shape[-1]), c.shape)
    total = c.expand(shape).clone()
    columns, rows = a.transpose(-1, -2).unsqueeze(-1).contiguous(), b.unsqueeze(-2)
    is_moderate = _is_moderate(a) and _is_moderate(b)
    powers = [_exponents(one, cores.least) for one in (columns, rows)] if is_moderate else []
    height = max(1, _TILE // max(1, shape[:-2].numel() * shape[-1]))
    for first in range(0, shape[-2], height):
        own = slice(first, first + height)
        for start in range(0, a.shape[-1], cores.length):
            ks = slice(start, start + cores.length)
            step = _Step(columns[..., ks, own, :], rows[..., ks, :, :], total[..., own, :], cores)
            if is_moderate and step.is_moderate:
                total[..., own, :] = step.quick(powers[0][..., ks, own, :], powers[1][..., ks, :, :])
            else:
                total[..., own, :] = step.general()
    return total


class _Step:
    """One instruction: columns (..., K, M, 1) times rows (..., K, 1, N), and what they are added to."""

    def __init__(self, columns: Tensor, rows: Tensor, total: Tensor, cores: _Cores) -> None:
        self._columns, self._rows, self._total, self._cores = columns, rows, total.float(), cores
        self._type = total.dtype

    @property
    def is_moderate(self) -> bool:
        """Whether the sum so far is finite, and no number that 26 bits do not hold beside the least product."""
        low, high = self._total.aminmax()
        if not -_LARGEST < float(low) <= float(high) < _LARGEST:
            return False
        tiny = self._total.abs() < _LEAST
        return not bool(tiny.any()) or not bool((tiny & (self._total != 0)).any())

    def quick(self, of_columns: Tensor, of_rows: Tensor) -> Tensor:
        """In float32 and int32, where the exponents, which are given, allow that.

        Where the sum so far is 0, its exponent may be any below those of the products.
        """
        of_total = self._total.view(torch.int32).bitwise_and(_EXPONENT).bitwise_right_shift_(_FRACTION).sub_(_BIAS)
        if self._type == torch.float16:
            of_total = torch.where(self._total == 0, _NOWHERE, of_total.clamp_min_(_LEAST_OF[torch.float16]))
        top = _greatest(of_total.to(torch.int16), of_columns, of_rows).int().clamp_min_(-2 * _MODERATE)
        scale = ((_BIAS + self._cores.bits) - top).bitwise_left_shift_(_FRACTION).view(torch.float32)
        units = self._units(self._columns, self._rows, self._total, scale, torch.int32)
        if self._type == torch.float16:
            return _to_half(units * scale.double().reciprocal())
        return _cut_off(units, self._cores.fraction).float() * scale.reciprocal_()

    def general(self) -> Tensor:
        """In float64 and int64, and with infinities and NaN as IEEE 754 says."""
        columns, rows, total = self._columns.double(), self._rows.double(), self._total.double()
        special = total
        for column, row in _pairs(columns, rows):
            special = special + column * row
        columns, rows, total = (torch.where(one.isfinite(), one, 0) for one in (columns, rows, total))
        powers = (_exponents(one.float(), self._cores.least) for one in (columns, rows))
        top = _greatest(_exponents(total.float(), _LEAST_OF[self._type]), *powers)
        scale = torch.exp2((self._cores.bits - top.clamp_min(4 * _LEAST_OF[torch.float32])).double())
        sums = self._units(columns, rows, total, scale, torch.int64) / scale
        found = _to_half(sums) if self._type == torch.float16 else _toward_zero(_cut_off(sums, self._cores.fraction))
        return torch.where(special.isfinite(), found, special.to(self._type))

    @staticmethod
    def _units(columns: Tensor, rows: Tensor, total: Tensor, scale: Tensor, whole: torch.dtype) -> Tensor:
        """The sum of the products, each in units and cut off, in float64."""
        sums = (total * scale).to(whole)
        found = torch.zeros(()).double()
        units, cut = torch.empty_like(scale), torch.empty_like(sums)
        for place, (column, row) in enumerate(_pairs(columns, rows), 1):
            torch.mul(column, row, out=units)
            cut.copy_(units.mul_(scale))
            sums += cut
            if place % _SUMMED == 0:
                found = found + sums
                sums.zero_()
        return found + sums


def _greatest(top: Tensor, of_columns: Tensor, of_rows: Tensor) -> Tensor:
    """The greatest exponent of any product, or of the sum so far, which is given."""
    sums = torch.empty_like(top)
    for column, row in _pairs(of_columns, of_rows):
        torch.add(column, row, out=sums)
        torch.maximum(top, sums, out=top)
    return top


def _pairs(columns: Tensor, rows: Tensor) -> Iterable[tuple[Tensor, Tensor]]:
    return zip(columns.unbind(-3), rows.unbind(-3), strict=True)


def _exponents(x: Tensor, least: int) -> Tensor:
    """Of float32: floor(log2 |x|), but at least `least`; that of 0 below all others."""
    raw = ((x.view(torch.int32) & _EXPONENT) >> _FRACTION).to(torch.int16) - _BIAS
    return torch.where(x == 0, _NOWHERE, raw.clamp_min(least))


def _is_moderate(x: Tensor) -> bool:
    """Whether products of such numbers, and they in units, are exact in float32."""
    sizes = x.abs()
    sizes = torch.where(sizes == 0, 1, sizes)
    return float(sizes.amin()) >= 2.0**-_MODERATE and float(sizes.amax()) <= 2.0**_MODERATE


def _cut_off(x: Tensor, fraction: int) -> Tensor:
    """float64 toward zero, with so many bits behind the first."""
    kept = -(1 << (_FRACTION_OF_DOUBLE - fraction))
    return (x.view(torch.int64) & kept).view(torch.float64)


def _toward_zero(x: Tensor) -> Tensor:
    """float64 as float32, subnormal numbers cut off too; 0 has no sign."""
    rounded = x.float()
    too_far = (rounded.double().abs() > x.abs()) & rounded.isfinite()
    return (rounded.view(torch.int32) - too_far.int()).view(torch.float32) + 0.0


def _to_half(x: Tensor) -> Tensor:
    """float64 to the nearest float16, once rounded; 0 has no sign."""
    cut = _cut_off(x, _FRACTION).float()
    sticky = (cut.view(torch.int32) | (cut.double() != x).int()).view(torch.float32)
    return sticky.half() + 0.0
