"""Matrix products as tensor cores compute them: exact products, sums in the accumulator's type.

How tensor cores order and truncate the sums is not modelled here: `bounds.dot_error` says how far that may reach, and
`tensor_cores` has the bits of one GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.fma import rounds_once
from tritonaudit.simulator.numerics.unsupported import Unsupported

_EXACT_IN_SINGLE = 1 << 24
_PRODUCT_OF_BYTES = 1 << 14

_TF32_DROPPED = (1 << 13) - 1
_TF32_HALF = 1 << 12

_FORMATS = ("e2m1", "e4m3", "e5m2", "bf16", "fp16")
_MAGNITUDES_OF_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_VALUES_OF_E2M1 = (*_MAGNITUDES_OF_E2M1, *(-magnitude for magnitude in _MAGNITUDES_OF_E2M1))


def dot(a: Tensor, b: Tensor, c: Tensor, types: Sequence[Type], input_precision: str = "ieee") -> Tensor:
    """`a @ b + c` in the type of `c`, where `types` are those of the three.

    `a` is (programs, M, K), `b` (programs, K, N), `c` (programs, M, N), each with the batches before its last two axes
    in blocks of three; sizes of 1 broadcast. Raises Unsupported for types and precisions that are not modelled.
    """
    of_a, of_b, of_c = types
    a, b = a.expand(-1, *of_a.shape), b.expand(-1, *of_b.shape)
    if of_a.is_integer:
        return _bytes(a, b, of_a.shape[-1]).to(torch.int32) + c
    if of_a.element == "f64":
        return c + _product(a, b)
    if of_a.element == "f32":
        return _singles(a, b, c, input_precision)
    total = _product(a.to(torch.float32), b.to(torch.float32)) + c
    return total.to(dtype_of(of_c))


def truncated_to_tf32(x: Tensor) -> Tensor:
    """float32 as tensor cores read it for tf32: Triton passes all bits on, and the lower 13 are ignored.

    Triton 3.9 emits no conversion for `input_precision="tf32"` on sm_80, sm_90 and sm_100 (read in its PTX).
    """
    return (x.view(torch.int32) & ~_TF32_DROPPED).view(torch.float32)


def rounded_to_tf32(x: Tensor) -> Tensor:
    """float32 rounded to nearest, ties away from zero (`cvt.rna.tf32.f32`)."""
    rounded = ((x.view(torch.int32) + _TF32_HALF) & ~_TF32_DROPPED).view(torch.float32)
    return torch.where(x.isfinite(), rounded, x)


def _singles(a: Tensor, b: Tensor, c: Tensor, precision: str) -> Tensor:
    if precision == "ieee":
        return in_order(a, b, c)
    if precision == "tf32":
        return _product(truncated_to_tf32(a), truncated_to_tf32(b)) + c
    if precision == "tf32x3":
        return _in_parts(parts_of_tf32(a), parts_of_tf32(b), 3) + c
    if precision in ("bf16x3", "bf16x6"):
        terms = int(precision[-1])
        parts = 2 if terms == 3 else 3
        return _in_parts(parts_of_bf16(a, parts), parts_of_bf16(b, parts), terms) + c
    raise Unsupported("tt.dot", precision)


def in_order(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """One fused multiply-add for each of K in turn, as Triton compiles what tensor cores have no type for.

    So it reads in the PTX of Triton 3.6 and 3.9. Where torch's own does not round once, once in the end.
    """
    if not rounds_once(torch.float32):
        return (_product(a.double(), b.double()) + c).to(torch.float32)
    shape = torch.broadcast_shapes((*a.shape[:-1], 1), (*b.shape[:-2], 1, b.shape[-1]), c.shape)
    total = c.expand(shape).clone()
    for column, row in zip(a.unsqueeze(-1).unbind(-2), b.unsqueeze(-2).unbind(-3), strict=True):
        total.addcmul_(column, row)
    return total


def _in_parts(a: Sequence[Tensor], b: Sequence[Tensor], terms: int) -> Tensor:
    """The sum of the largest `terms` products of parts, least first; NaN in the lesser ones is 0, as in Triton."""
    order = sorted(product(range(len(a)), range(len(b))), key=sum)[:terms]
    lesser = sum((_product(a[i], b[j]) for i, j in reversed(order[1:])), start=torch.zeros(()))
    return torch.where(lesser.isnan(), 0, lesser) + _product(a[0], b[0])


def parts_of_tf32(x: Tensor) -> list[Tensor]:
    """Two numbers of tf32 that add up to one of float32, nearly; the second is cut off."""
    large = rounded_to_tf32(x)
    return [large, truncated_to_tf32(x - large)]


def parts_of_bf16(x: Tensor, count: int) -> list[Tensor]:
    """Numbers of bfloat16, in float32, that add up to one of float32, nearly."""
    parts: list[Tensor] = []
    for _ in range(count):
        parts.append(x.to(torch.bfloat16).to(torch.float32))
        x = x - parts[-1]
    return parts


def _bytes(a: Tensor, b: Tensor, length: int) -> Tensor:
    """Products of int8, summed exactly in floats."""
    dtype = torch.float32 if length * _PRODUCT_OF_BYTES <= _EXACT_IN_SINGLE else torch.float64
    return _product(a.to(dtype), b.to(dtype))


def _product(a: Tensor, b: Tensor) -> Tensor:
    """`a @ b`, as one product of matrices where all programs have the same `b`."""
    if a.dim() == 3 and b.shape[0] == 1:
        rows = a.reshape(-1, a.shape[-1])
        return (rows @ b[0]).reshape(*a.shape[:-1], b.shape[-1])
    return a @ b


@dataclass(frozen=True)
class ScaledOperand:
    """An operand of a scaled product: (programs, M, K), or (programs, K, N) on the right, with scales of groups of K.

    `format` is `e2m1` (two elements in an i8, the first in the lower bits, packed along K or else along the other
    axis), `e4m3`, `e5m2`, `bf16` or `fp16`; `scale` is (programs, M or N, groups) of e8m0 in i8, or of float8_e4m3fn.
    """

    elements: Tensor
    format: str
    scale: Tensor | None = None
    is_packed_along_k: bool = True


def dot_scaled(left: ScaledOperand, right: ScaledOperand, total: Tensor, result: Type, is_fast: bool = False) -> Tensor:
    """`left @ right + total` of operands that are multiplied by their scales first. Raises Unsupported for formats."""
    a, b = scaled_operands(left, right, is_fast)
    return (_product(a, b) + total).to(dtype_of(result))


def scaled_operands(left: ScaledOperand, right: ScaledOperand, is_fast: bool) -> tuple[Tensor, Tensor]:
    """The operands multiplied by their scales in bfloat16, or float16 if one of them is that, as float32.

    That is how Triton computes it for GPUs without instructions of their own; with them nothing rounds before the
    sum. A scale of 255 makes NaN, unless the product `is_fast`. Raises Unsupported for other formats.
    """
    dtype = torch.float16 if "fp16" in (left.format, right.format) else torch.bfloat16
    return _scaled_operand(left, -1, dtype, is_fast), _scaled_operand(right, -2, dtype, is_fast)


def _scaled_operand(operand: ScaledOperand, axis: int, dtype: torch.dtype, is_fast: bool) -> Tensor:
    """The operand in `dtype`, scaled, as float32; `axis` is that of K."""
    other = -3 - axis
    elements = _unpacked(operand, axis if operand.is_packed_along_k else other)
    if operand.scale is None:
        return elements
    scale = _scale(operand.scale, is_fast)
    scale = scale.repeat_interleave(elements.shape[axis] // scale.shape[-1], -1)
    if axis == -2:
        scale = scale.transpose(-1, -2)
    return (elements * scale).to(dtype).to(torch.float32)


def _unpacked(operand: ScaledOperand, axis: int) -> Tensor:
    if operand.format not in _FORMATS:
        raise Unsupported("tt.dot_scaled", operand.format)
    if operand.format != "e2m1":
        return operand.elements.to(torch.float32)
    codes = torch.stack((operand.elements & 15, (operand.elements >> 4) & 15), -1).to(torch.int64)
    values = torch.tensor(_VALUES_OF_E2M1)[codes]
    return values.flatten(-2) if axis == -1 else values.movedim(-1, -2).flatten(-3, -2)


def _scale(scale: Tensor, is_fast: bool) -> Tensor:
    """The scales in float32; e8m0 is an exponent with a bias of 127."""
    if scale.dtype != torch.int8:
        return scale.to(torch.float32)
    codes = scale.to(torch.int64) & 0xFF
    powers = torch.exp2((codes - 127).double()).to(torch.float32)
    return powers if is_fast else torch.where(codes == 255, torch.nan, powers)
