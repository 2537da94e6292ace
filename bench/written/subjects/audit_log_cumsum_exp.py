"""The logarithm of the running sum of exponentials of each row, by scans of tiles and a carry from tile to tile."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_ROWS = 4
BLOCK_COLS = 64


@triton.jit
def join(max_a, sum_a, max_b, sum_b):
    """A sum of exponentials is its largest exponent, and the sum relative to that."""
    both = tl.maximum(max_a, max_b)
    # Equal ones may both be infinite, of which the difference is NaN.
    share_a = tl.where(max_a == both, 1.0, tl.exp(max_a - both))
    share_b = tl.where(max_b == both, 1.0, tl.exp(max_b - both))
    return both, sum_a * share_a + sum_b * share_b


@triton.jit
def log_cumsum_exp_kernel(
    x_ptr,
    y_ptr,
    rows,
    cols,
    x_row_stride,
    x_col_stride,
    WIDE: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    last = tl.arange(0, BLOCK_COLS)[None, :] == BLOCK_COLS - 1
    carry_max = tl.full((BLOCK_ROWS,), float("-inf"), WIDE)
    carry_sum = tl.zeros((BLOCK_ROWS,), WIDE)
    for start in range(0, cols, BLOCK_COLS):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_COLS)
        mask = (row < rows)[:, None] & (col < cols)[None, :]
        x_at = row[:, None] * x_row_stride + col[None, :] * x_col_stride
        x = tl.load(x_ptr + x_at, mask=mask, other=float("-inf")).to(WIDE)
        ones = tl.full((BLOCK_ROWS, BLOCK_COLS), 1.0, WIDE)
        tile_max, tile_sum = tl.associative_scan((x, ones), 1, join)
        run_max, run_sum = join(carry_max[:, None], carry_sum[:, None], tile_max, tile_sum)
        y = run_max + tl.log(run_sum)
        tl.store(y_ptr + row[:, None] * cols + col[None, :], y, mask=mask)
        carry_max = tl.sum(tl.where(last, run_max, 0.0), axis=1)
        carry_sum = tl.sum(tl.where(last, run_sum, 0.0), axis=1)


def log_cumsum_exp(x: torch.Tensor) -> torch.Tensor:
    """x, (rows, cols): along each row log(exp(x[0]) + ... + exp(x[i])), in the dtype of x."""
    if x.ndim != 2:
        raise ValueError("x has two dimensions")
    if x.dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is of floating point, 16 to 64 bits")
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel():
        log_cumsum_exp_kernel[(triton.cdiv(rows, BLOCK_ROWS),)](
            x,
            y,
            rows,
            cols,
            *x.stride(),
            WIDE=tl.float64 if x.dtype == torch.float64 else tl.float32,
            BLOCK_ROWS=BLOCK_ROWS,
            BLOCK_COLS=BLOCK_COLS,
        )
    return y


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.logcumsumexp(x.to(torch.promote_types(x.dtype, torch.float32)), dim=1).to(x.dtype)


running = Subject(
    log_cumsum_exp,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    name="log_cumsum_exp",
    sizes={"rows": [8, 1, 7, 40, 0], "cols": [64, 1, 50, 200]},
    dtypes=["float32", "float16", "bfloat16", "float64"],
)
