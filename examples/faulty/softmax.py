"""Softmax over the last dimension, as a first kernel often looks. Wrong on purpose: `tritonaudit examples/faulty`."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_rows, n_cols, BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    cols = tl.arange(0, BLOCK_COLS)
    mask = (rows[:, None] < n_rows) and (cols[None, :] < n_cols)
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    numerator = tl.exp(x)
    denominator = tl.sum(numerator, axis=1)
    tl.store(out_ptr + offsets, numerator / denominator[:, None], mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Softmax of x (rows, cols), float32 and contiguous, over its columns."""
    n_rows, n_cols = x.shape
    out = torch.empty_like(x)
    BLOCK_ROWS = 4
    softmax_kernel[(triton.cdiv(n_rows, BLOCK_ROWS),)](
        x, out, n_rows, n_cols, BLOCK_ROWS=BLOCK_ROWS, BLOCK_COLS=triton.next_power_of_2(n_cols)
    )
    return out
