"""Softmax over the last dimension, of rows of any length: one pass finds the maximum and the sum, one writes."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, x_row_stride, x_col_stride, out_row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row_ptr = x_ptr + row * x_row_stride
    out_row_ptr = out_ptr + row * out_row_stride
    highest = -float("inf")
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_row_ptr + cols * x_col_stride, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        new_highest = tl.maximum(highest, tl.max(x, axis=0))
        shift = tl.where(new_highest == -float("inf"), 0.0, new_highest)
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(x - shift), axis=0)
        highest = new_highest
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = cols < n_cols
        x = tl.load(x_row_ptr + cols * x_col_stride, mask=mask).to(tl.float32)
        tl.store(out_row_ptr + cols, (tl.exp(x - highest) / total).to(out_ptr.dtype.element_ty), mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Softmax of x, (rows, columns) of any strides, along the columns."""
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    block = min(triton.next_power_of_2(n_cols), 1024)
    softmax_kernel[(n_rows,)](x, out, n_cols, x.stride(0), x.stride(1), out.stride(0), BLOCK=block)
    return out
