"""Sums of columns: programs share the rows of a block of columns among them, and add up in memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def column_sum_kernel(
    x_ptr,
    sums_ptr,
    n_rows,
    n_cols,
    row_stride,
    col_stride,
    ROWS_PER_PROGRAM: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLS: tl.constexpr,
):
    cols = tl.program_id(0).to(tl.int64) * BLOCK_COLS + tl.arange(0, BLOCK_COLS)
    first = tl.program_id(1).to(tl.int64) * ROWS_PER_PROGRAM
    sums = tl.zeros((BLOCK_COLS,), dtype=tl.float32)
    for start in range(0, ROWS_PER_PROGRAM, BLOCK_ROWS):
        rows = first + start + tl.arange(0, BLOCK_ROWS)
        mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
        x = tl.load(x_ptr + rows[:, None] * row_stride + cols[None, :] * col_stride, mask=mask, other=0.0)
        sums += tl.sum(x.to(tl.float32), axis=0)
    tl.atomic_add(sums_ptr + cols, sums, mask=cols < n_cols)


def column_sum(x: torch.Tensor) -> torch.Tensor:
    """The sum of each column of x, (rows, columns) of any strides."""
    n_rows, n_cols = x.shape
    sums = torch.zeros(n_cols, dtype=torch.float32, device=x.device)
    if x.numel() == 0:
        return sums.to(x.dtype)
    rows_per_program, block_cols = 128, 64
    column_sum_kernel[(triton.cdiv(n_cols, block_cols), triton.cdiv(n_rows, rows_per_program))](
        x,
        sums,
        n_rows,
        n_cols,
        x.stride(0),
        x.stride(1),
        ROWS_PER_PROGRAM=rows_per_program,
        BLOCK_ROWS=32,
        BLOCK_COLS=block_cols,
    )
    return sums.to(x.dtype)
