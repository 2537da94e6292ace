"""Cumulative sums along rows of any length: blocks are scanned in turn, and the sum so far is carried on."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumulative_sum_kernel(x_ptr, out_ptr, n_cols, x_row_stride, x_col_stride, out_row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_row_ptr = x_ptr + row * x_row_stride
    out_row_ptr = out_ptr + row * out_row_stride
    carried = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = cols < n_cols
        x = tl.load(x_row_ptr + cols * x_col_stride, mask=mask, other=0.0).to(tl.float32)
        sums = carried + tl.cumsum(x, axis=0)
        tl.store(out_row_ptr + cols, sums.to(out_ptr.dtype.element_ty), mask=mask)
        carried += tl.sum(x, axis=0)


def cumulative_sum(x: torch.Tensor) -> torch.Tensor:
    """The cumulative sums of x, (rows, columns) of any strides, along the columns."""
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    block = min(triton.next_power_of_2(n_cols), 512)
    cumulative_sum_kernel[(n_rows,)](x, out, n_cols, x.stride(0), x.stride(1), out.stride(0), BLOCK=block)
    return out
