"""Sums of products with the bits that the tensor cores of an H100 give.

An instruction takes a few of K at a time. Their products are exact; they and the accumulator are aligned to the
greatest exponent among them, cut off some bits below it, summed, and cut off again to the accumulator's type.
Fasi, Higham, Mikaitis and Pranesh found that by experiment (Numerical behavior of NVIDIA tensor cores, PeerJ Computer
Science 7, 2021) for GPUs before Hopper, which cuts off one bit later. The numbers here are measured on an H100.
"""

from __future__ import annotations

from collections.abc import Sequence
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
_MODERATE = 50
"""Products of numbers up to 2^this, and down to its inverse, are exact in float32 and so are they in units."""
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
    fraction: int = 23


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
    rows = max(1, _TILE // max(1, shape[:-2].numel() * shape[-1]))
    for first in range(0, shape[-2], rows):
        own = slice(first, first + rows)
        for start in range(0, a.shape[-1], cores.length):
            ks = slice(start, start + cores.length)
            total[..., own, :] = _step(a[..., own, ks], b[..., ks, :], total[..., own, :], cores)
    return total


def _step(a: Tensor, b: Tensor, c: Tensor, cores: _Cores) -> Tensor:
    """One instruction."""
    finite = bool(a.isfinite().all()) and bool(b.isfinite().all()) and bool(c.isfinite().all())
    if finite:
        return _finite(a, b, c, cores)
    special = (a.double() @ b.double() + c).to(c.dtype)
    a, b, c = (torch.where(one.isfinite(), one, 0) for one in (a, b, c))
    return torch.where(special.isfinite(), _finite(a, b, c, cores), special)


def _finite(a: Tensor, b: Tensor, c: Tensor, cores: _Cores) -> Tensor:
    single = c.float()
    of_a, of_b = (_exponents(one, cores.least) for one in (a, b))
    top = _exponents(single, _LEAST_OF[c.dtype])
    sums = torch.empty_like(top)
    for k in range(a.shape[-1]):
        torch.add(of_a[..., k, None], of_b[..., None, k, :], out=sums)
        torch.maximum(top, sums, out=top)
    is_moderate = _is_moderate(of_a) and _is_moderate(of_b)
    if is_moderate:
        scale = torch.exp2((cores.bits - top.clamp_min(-2 * _MODERATE)).float())
        units = _units(a, b, single, scale, torch.int32)
    else:
        scale = torch.exp2((cores.bits - top.clamp_min(4 * _LEAST_OF[torch.float32])).double())
        units = _units(a.double(), b.double(), single.double(), scale, torch.int64)
    total = units * torch.exp2((top - cores.bits).double())
    if c.dtype == torch.float16:
        return _to_half(total)
    total = _cut_off(total, cores.fraction)
    if not is_moderate:
        return _toward_zero(total)
    return torch.where(top < -2 * _MODERATE, c, total.float()) + 0.0


def _units(a: Tensor, b: Tensor, c: Tensor, scale: Tensor, whole: torch.dtype) -> Tensor:
    """The sum of the products, each in units and cut off, in float64."""
    sums = (c * scale).to(whole)
    total = torch.zeros(()).double()
    units, cut = torch.empty_like(scale), torch.empty_like(sums)
    for k in range(a.shape[-1]):
        torch.mul(a[..., k, None], b[..., None, k, :], out=units)
        cut.copy_(units.mul_(scale))
        sums += cut
        if k % _SUMMED == _SUMMED - 1:
            total = total + sums
            sums.zero_()
    return total + sums


def _exponents(x: Tensor, least: int) -> Tensor:
    """Of float32: floor(log2 |x|), but at least `least`; that of 0 below all others."""
    raw = ((x.view(torch.int32) >> 23) & 0xFF).to(torch.int16) - 127
    return torch.where(x == 0, _NOWHERE, raw.clamp_min(least))


def _is_moderate(exponents: Tensor) -> bool:
    """Of numbers that are not 0."""
    return int(exponents.amax()) <= _MODERATE and not bool(((exponents < -_MODERATE) & (exponents != _NOWHERE)).any())


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
    cut = _cut_off(x, 23).float()
    sticky = (cut.view(torch.int32) | (cut.double() != x).int()).view(torch.float32)
    return sticky.half() + 0.0
