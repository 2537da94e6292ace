"""Matrix products as tensor cores compute them: exact products, sums in the accumulator's type.

How a GPU orders and truncates the sums is not modelled: `bounds.dot_error` says how far that may reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeAlias

import torch
from torch import Tensor

from tritonaudit.simulate.ir import Type
from tritonaudit.simulate.numerics.elements import dtype_of
from tritonaudit.simulate.numerics.unsupported import Unsupported

_EXACT_IN_SINGLE = 1 << 24
_PRODUCT_OF_BYTES = 1 << 14

_TF32_DROPPED = (1 << 13) - 1
_TF32_HALF = 1 << 12

_HALVES = ("f16", "bf16")

Multiply: TypeAlias = Callable[[Tensor, Tensor], Tensor]


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
        return (_product(a.double(), b.double()) + c).to(torch.float32)
    if precision == "tf32":
        return _product(truncated_to_tf32(a), truncated_to_tf32(b)) + c
    if precision == "tf32x3":
        return _in_parts(_parts_of_tf32(a), _parts_of_tf32(b), 3) + c
    if precision in ("bf16x3", "bf16x6"):
        terms = int(precision[-1])
        parts = 2 if terms == 3 else 3
        return _in_parts(_parts_of_bf16(a, parts), _parts_of_bf16(b, parts), terms) + c
    raise Unsupported("tt.dot", precision)


def _in_parts(a: Sequence[Tensor], b: Sequence[Tensor], terms: int) -> Tensor:
    """The sum of the largest `terms` products of parts, least first; NaN in the lesser ones is 0, as in Triton."""
    order = sorted(product(range(len(a)), range(len(b))), key=sum)[:terms]
    lesser = sum((_product(a[i], b[j]) for i, j in reversed(order[1:])), start=torch.zeros(()))
    return torch.where(lesser.isnan(), 0, lesser) + _product(a[0], b[0])


def _parts_of_tf32(x: Tensor) -> list[Tensor]:
    large = rounded_to_tf32(x)
    return [large, truncated_to_tf32(x - large)]


def _parts_of_bf16(x: Tensor, count: int) -> list[Tensor]:
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
