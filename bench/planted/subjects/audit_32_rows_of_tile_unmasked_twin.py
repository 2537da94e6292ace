"""Doubles an image in both directions, each pixel a square of four."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def double_kernel(x_ptr, out_ptr, columns, out_rows, out_columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    inside = (r < out_rows)[:, None] & (c < out_columns)[None, :]
    x = tl.load(x_ptr + (r // 2)[:, None] * columns + (c // 2)[None, :], mask=inside, other=0.0)
    tl.store(out_ptr + r[:, None] * out_columns + c[None, :], x, mask=inside)


def double(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty((2 * rows, 2 * columns), device=x.device, dtype=x.dtype)
    if x.numel() > 0:
        double_kernel[(triton.cdiv(2 * rows, 8), triton.cdiv(2 * columns, 64))](
            x, out, columns, 2 * rows, 2 * columns, BLOCK_R=8, BLOCK_C=64
        )
    return out


def reference(x):
    return x.repeat_interleave(2, dim=0).repeat_interleave(2, dim=1)


doubled = Subject(double, reference=reference, inputs=[Tensor("rows", "columns")], dtypes=["float32", "float16"])
