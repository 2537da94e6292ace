"""What is compared: each subject makes one launch, on inputs of one size, dtype and layout."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from bench.agreement.kernels.elementwise import (
    add,
    cast_fp8,
    copy,
    copy_strided,
    gather,
    histogram,
    rope,
    transpose,
)
from bench.agreement.kernels.products import attention, matmul
from bench.agreement.kernels.rows import (
    argmax,
    column_sum,
    cross_entropy,
    cumulative_sum,
    layer_norm,
    quantise,
    rms_norm,
    row_sum,
    scale_rows,
    softmax,
    sort,
    welford,
)
from tritonaudit.subject.model import Case, Subject

_N = 1 << 16
_ROWS = 256

FP32, FP16, BF16 = ("float32",), ("float16",), ("bfloat16",)


def _random(*shapes: tuple[int, ...]) -> Callable[[Case], tuple[torch.Tensor, ...]]:
    return lambda case: tuple(torch.randn(shape, dtype=getattr(torch, case.dtype)) for shape in shapes)


def _from_second(*shape: int) -> Callable[[Case], tuple[torch.Tensor, ...]]:
    """A tensor that begins one element after an aligned address."""

    def make(case: Case) -> tuple[torch.Tensor, ...]:
        size = torch.Size(shape).numel()
        return (torch.randn(size + 1, dtype=getattr(torch, case.dtype))[1:].view(shape),)

    return make


def _then(first: Callable[[Case], tuple[torch.Tensor, ...]], *more: Any) -> Callable[[Case], tuple[Any, ...]]:
    """Further arguments after the tensors."""
    return lambda case: (*first(case), *more)


def _first_columns(rows: int, columns: int, of: int) -> Callable[[Case], tuple[torch.Tensor, ...]]:
    """The first columns of a wider matrix."""
    return lambda case: (torch.randn(rows, of, dtype=getattr(torch, case.dtype))[:, :columns],)


def _every_other(n: int) -> Callable[[Case], tuple[torch.Tensor, ...]]:
    return lambda case: (torch.randn(2 * n, dtype=getattr(torch, case.dtype))[::2],)


def _values_and_places(case: Case) -> tuple[torch.Tensor, ...]:
    return torch.randn(_N, dtype=getattr(torch, case.dtype)), torch.randint(0, _N, (_N,))


def _small_numbers(case: Case) -> tuple[Any, ...]:
    return torch.randint(0, 128, (_N,), dtype=torch.int32), 128


def _logits_and_labels(case: Case) -> tuple[torch.Tensor, ...]:
    columns = 4000
    return torch.randn(_ROWS, columns, dtype=getattr(torch, case.dtype)), torch.randint(0, columns, (_ROWS,))


def _heads_and_angles(case: Case) -> tuple[torch.Tensor, ...]:
    tokens, heads, size = 128, 8, 128
    angle = torch.randn(tokens, size // 2)
    return torch.randn(tokens, heads, size, dtype=getattr(torch, case.dtype)), torch.cos(angle), torch.sin(angle)


# -- what it should come to ----------------------------------------------------------------------------------------


def _rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6) * weight.float()).to(x.dtype)


def _quantised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scales = x.float().abs().amax(-1).clamp_min(1e-8) / 127.0
    return torch.floor(x.float() / scales[:, None] + 0.5).to(torch.int8), scales


def _moments(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.mean(-1), x.var(-1, unbiased=False)


def _rotated(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = x.float().chunk(2, -1)
    cos, sin = cosine[:, None, :], sine[:, None, :]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).to(x.dtype)


def _causal(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def _losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.float(), labels, reduction="none")


def _normalised(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias)


_softmaxed = partial(torch.softmax, dim=-1)


# -- one element out for one element in ----------------------------------------------------------------------------

copy_fp32 = Subject(copy, torch.clone, _random((_N,)), dtypes=FP32)
copy_fp16 = Subject(copy, torch.clone, _random((_N,)), dtypes=FP16)
copy_bf16 = Subject(copy, torch.clone, _random((_N,)), dtypes=BF16)
copy_fp32_small_block = Subject(partial(copy, block=256), torch.clone, _random((_N,)), dtypes=FP32)
copy_fp32_odd_address = Subject(copy, torch.clone, _from_second(_N), dtypes=FP32)
copy_fp16_odd_address = Subject(copy, torch.clone, _from_second(_N), dtypes=FP16)
copy_fp32_every_other = Subject(copy_strided, torch.clone, _every_other(_N), dtypes=FP32)
copy_fp32_stride_1 = Subject(copy_strided, torch.clone, _random((_N,)), dtypes=FP32)
add_fp32 = Subject(add, torch.add, _random((_N,), (_N,)), dtypes=FP32)
add_fp16 = Subject(add, torch.add, _random((_N,), (_N,)), dtypes=FP16)
gather_fp32 = Subject(gather, lambda x, index: x[index], _values_and_places, dtypes=FP32)
cast_fp16_to_fp8 = Subject(cast_fp8, lambda x: x.to(torch.float8_e4m3fn), _random((_N,)), dtypes=FP16)
histogram_int32 = Subject(
    histogram, lambda x, bins: torch.bincount(x, minlength=bins).int(), _small_numbers, dtypes=FP32
)
transpose_fp32 = Subject(transpose, lambda x: x.t().contiguous(), _random((_ROWS, 512)), dtypes=FP32)
transpose_fp16 = Subject(transpose, lambda x: x.t().contiguous(), _random((_ROWS, 512)), dtypes=FP16)
rope_fp16 = Subject(rope, _rotated, _heads_and_angles, dtypes=FP16)

# -- one program for each row --------------------------------------------------------------------------------------

scale_rows_1024 = Subject(scale_rows, torch.mul, _then(_random((_ROWS, 1024)), 0.5), dtypes=FP32)
scale_rows_1000 = Subject(scale_rows, torch.mul, _then(_random((_ROWS, 1000)), 0.5), dtypes=FP32)
scale_rows_1001 = Subject(scale_rows, torch.mul, _then(_random((_ROWS, 1001)), 0.5), dtypes=FP32)
scale_rows_1001_of_1024 = Subject(scale_rows, torch.mul, _then(_first_columns(_ROWS, 1001, 1024), 0.5), dtypes=FP32)
softmax_1024_fp16 = Subject(softmax, _softmaxed, _random((_ROWS, 1024)), dtypes=FP16)
softmax_1000_fp32 = Subject(softmax, _softmaxed, _random((_ROWS, 1000)), dtypes=FP32)
layer_norm_fp16 = Subject(layer_norm, _normalised, _random((_ROWS, 1024), (1024,), (1024,)), dtypes=FP16)
rms_norm_bf16 = Subject(rms_norm, _rms_norm, _random((_ROWS, 4096), (4096,)), dtypes=BF16)
row_sum_fp32 = Subject(row_sum, lambda x: x.sum(-1), _random((_ROWS, 1024)), dtypes=FP32)
column_sum_fp32 = Subject(column_sum, lambda x: x.sum(0), _random((1024, _ROWS)), dtypes=FP32)
cumulative_sum_fp32 = Subject(cumulative_sum, lambda x: x.cumsum(-1), _random((_ROWS, 1024)), dtypes=FP32)
argmax_fp32 = Subject(argmax, lambda x: x.argmax(-1), _random((_ROWS, 1000)), dtypes=FP32)
sort_fp32 = Subject(sort, lambda x: x.sort(-1).values, _random((_ROWS, 512)), dtypes=FP32)
welford_fp32 = Subject(welford, _moments, _random((_ROWS, 1000)), dtypes=FP32)
cross_entropy_fp32 = Subject(cross_entropy, _losses, _logits_and_labels, dtypes=FP32)
quantise_fp16_to_int8 = Subject(quantise, _quantised, _random((_ROWS, 1024)), dtypes=FP16)

# -- matrix products -----------------------------------------------------------------------------------------------

_SQUARES = _random((512, 512), (512, 512))

matmul_fp16_64x64 = Subject(partial(matmul, tile=(64, 64, 32), warps=4, stages=3), torch.matmul, _SQUARES, dtypes=FP16)
matmul_fp16_128x128 = Subject(
    partial(matmul, tile=(128, 128, 64), warps=8, stages=3), torch.matmul, _SQUARES, dtypes=FP16
)
matmul_fp16_spills = Subject(
    partial(matmul, tile=(256, 256, 32), warps=4, stages=2), torch.matmul, _SQUARES, dtypes=FP16
)
matmul_tf32_64x64 = Subject(partial(matmul, tile=(64, 64, 32), warps=4, stages=3), torch.matmul, _SQUARES, dtypes=FP32)
attention_bf16 = Subject(attention, _causal, _random(*[(8, 512, 64)] * 3), dtypes=BF16)
