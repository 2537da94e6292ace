"""Symmetric int8 quantisation of each token. What is not finite counts as 0."""
from typing import NamedTuple

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


class Quantized(NamedTuple):
    values: torch.Tensor
    scales: torch.Tensor


@triton.jit
def quantize_int8_kernel(x_ptr, out_ptr, scale_ptr, stride_row, stride_column, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_row
    lanes = tl.arange(0, BLOCK)
    largest = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = (start + lanes).to(tl.int64)
        x = tl.load(x_ptr + offsets * stride_column, mask=offsets < columns, other=0.0).to(tl.float32)
        x = tl.where(tl.abs(x) < float("inf"), x, 0.0)
        largest = tl.maximum(largest, tl.abs(x))
    scale = tl.maximum(tl.max(largest, axis=0), 1e-10) / 127.0
    tl.store(scale_ptr + row, scale)
    for start in range(0, columns, BLOCK):
        offsets = (start + lanes).to(tl.int64)
        mask = offsets < columns
        x = tl.load(x_ptr + offsets * stride_column, mask=mask, other=0.0).to(tl.float32)
        x = tl.where(tl.abs(x) < float("inf"), x, 0.0)
        y = tl.minimum(tl.maximum(tl.floor(x / scale + 0.5), -127.0), 127.0)
        tl.store(out_ptr + row * columns + offsets, y.to(tl.int8), mask=mask)


def quantize_int8(x):
    assert x.ndim == 2 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    rows, columns = x.shape
    values = torch.empty((rows, columns), device=x.device, dtype=torch.int8)
    scales = torch.empty((rows, 1), device=x.device, dtype=torch.float32)
    if rows > 0:
        block = min(1024, max(16, triton.next_power_of_2(columns)))
        quantize_int8_kernel[(rows,)](x, values, scales, x.stride(0), x.stride(1), columns, BLOCK=block)
    return Quantized(values, scales)


def reference(x):
    x = x.float()
    x = torch.where(x.isfinite(), x, 0.0)
    if x.shape[1] == 0:
        return Quantized(x.to(torch.int8), x.new_full((x.shape[0], 1), 1e-10 / 127.0))
    scales = x.abs().amax(dim=1, keepdim=True).clamp(min=1e-10) / 127.0
    return Quantized(torch.floor(x / scales + 0.5).clamp(-127, 127).to(torch.int8), scales)


quantize = Subject(quantize_int8, reference=reference, inputs=[Tensor("rows", "columns")])
