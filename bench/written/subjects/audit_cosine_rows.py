"""Cosine similarity of the rows of two matrices, and its gradients, with norms kept for the backward pass."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

EPS = 1e-6
BLOCK_ROWS = 8
BLOCK_COLS = 64


@triton.jit
def cosine_kernel(
    a_ptr,
    b_ptr,
    y_ptr,
    a_norm_ptr,
    b_norm_ptr,
    rows,
    cols,
    a_row_stride,
    a_col_stride,
    b_row_stride,
    b_col_stride,
    EPS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    row_mask = row < rows
    ab = tl.zeros((BLOCK_ROWS,), tl.float32)
    aa = tl.zeros((BLOCK_ROWS,), tl.float32)
    bb = tl.zeros((BLOCK_ROWS,), tl.float32)
    for start in range(0, cols, BLOCK_COLS):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_COLS)
        col_mask = col < cols
        mask = row_mask[:, None] & col_mask[None, :]
        a = tl.load(a_ptr + row[:, None] * a_row_stride + col[None, :] * a_col_stride, mask=mask, other=0.0)
        b = tl.load(b_ptr + row[:, None] * b_row_stride + col[None, :] * b_col_stride, mask=mask, other=0.0)
        a = a.to(tl.float32)
        b = b.to(tl.float32)
        ab += tl.sum(a * b, axis=1)
        aa += tl.sum(a * a, axis=1)
        bb += tl.sum(b * b, axis=1)
    a_norm = tl.sqrt(aa)
    b_norm = tl.sqrt(bb)
    y = ab / tl.where(a_norm < EPS, EPS, a_norm) / tl.where(b_norm < EPS, EPS, b_norm)
    tl.store(y_ptr + row, y, mask=row_mask)
    tl.store(a_norm_ptr + row, a_norm, mask=row_mask)
    tl.store(b_norm_ptr + row, b_norm, mask=row_mask)


@triton.jit
def cosine_backward_kernel(
    a_ptr,
    b_ptr,
    y_ptr,
    dy_ptr,
    a_norm_ptr,
    b_norm_ptr,
    da_ptr,
    db_ptr,
    rows,
    cols,
    a_row_stride,
    a_col_stride,
    b_row_stride,
    b_col_stride,
    dy_stride,
    EPS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    row_mask = row < rows
    y = tl.load(y_ptr + row, mask=row_mask, other=0.0)
    dy = tl.load(dy_ptr + row * dy_stride, mask=row_mask, other=0.0).to(tl.float32)
    a_norm = tl.load(a_norm_ptr + row, mask=row_mask, other=1.0)
    b_norm = tl.load(b_norm_ptr + row, mask=row_mask, other=1.0)
    a_short = a_norm < EPS
    b_short = b_norm < EPS
    a_norm = tl.where(a_short, EPS, a_norm)
    b_norm = tl.where(b_short, EPS, b_norm)
    cross = dy / a_norm / b_norm
    # A norm below EPS counts as a constant.
    along_a = tl.where(a_short, 0.0, dy * y / a_norm / a_norm)
    along_b = tl.where(b_short, 0.0, dy * y / b_norm / b_norm)
    for start in range(0, cols, BLOCK_COLS):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_COLS)
        mask = row_mask[:, None] & (col < cols)[None, :]
        a = tl.load(a_ptr + row[:, None] * a_row_stride + col[None, :] * a_col_stride, mask=mask).to(tl.float32)
        b = tl.load(b_ptr + row[:, None] * b_row_stride + col[None, :] * b_col_stride, mask=mask).to(tl.float32)
        out_at = row[:, None] * cols + col[None, :]
        tl.store(da_ptr + out_at, cross[:, None] * b - along_a[:, None] * a, mask=mask)
        tl.store(db_ptr + out_at, cross[:, None] * a - along_b[:, None] * b, mask=mask)


class CosineRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        rows, cols = a.shape
        y, a_norm, b_norm = torch.empty((3, rows), dtype=torch.float32, device=a.device).unbind()
        if rows:
            cosine_kernel[(triton.cdiv(rows, BLOCK_ROWS),)](
                a,
                b,
                y,
                a_norm,
                b_norm,
                rows,
                cols,
                *a.stride(),
                *b.stride(),
                EPS=EPS,
                BLOCK_ROWS=BLOCK_ROWS,
                BLOCK_COLS=BLOCK_COLS,
            )
        ctx.save_for_backward(a, b, y, a_norm, b_norm)
        return y.to(a.dtype, copy=True)

    @staticmethod
    def backward(ctx, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, b, y, a_norm, b_norm = ctx.saved_tensors
        rows, cols = a.shape
        da = torch.empty((rows, cols), dtype=a.dtype, device=a.device)
        db = torch.empty((rows, cols), dtype=b.dtype, device=b.device)
        if da.numel():
            grid = (triton.cdiv(rows, BLOCK_ROWS),)
            cosine_backward_kernel[grid](
                a,
                b,
                y,
                dy,
                a_norm,
                b_norm,
                da,
                db,
                rows,
                cols,
                *a.stride(),
                *b.stride(),
                dy.stride(0),
                EPS=EPS,
                BLOCK_ROWS=BLOCK_ROWS,
                BLOCK_COLS=BLOCK_COLS,
            )
        return da, db


def cosine_rows(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a and b, (rows, cols), of one dtype: the cosine of every row of a with that of b, (rows), where a norm below 1e-6
    counts as 1e-6."""
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError("a and b have two dimensions, and one shape")
    if a.dtype not in (torch.float32, torch.float16, torch.bfloat16) or b.dtype != a.dtype:
        raise ValueError("a and b are both float32, both float16 or both bfloat16")
    return CosineRows.apply(a, b)


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(a.dtype, torch.float32)
    x, z = a.to(wide), b.to(wide)
    norms = torch.linalg.vector_norm(x, dim=1).clamp(min=EPS), torch.linalg.vector_norm(z, dim=1).clamp(min=EPS)
    return ((x * z).sum(dim=1) / norms[0] / norms[1]).to(a.dtype)


similar = Subject(
    cosine_rows,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", "cols")],
    name="cosine_rows",
    sizes={"rows": [16, 1, 13, 40, 0], "cols": [64, 1, 50, 200]},
    gradients=True,
)
