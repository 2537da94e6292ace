"""Rows of a table, by their numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(
    indices_ptr,
    table_ptr,
    out_ptr,
    n_indices,
    dim,
    table_row_stride,
    table_col_stride,
    out_row_stride,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLS: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    cols = (tl.program_id(1) * BLOCK_COLS + tl.arange(0, BLOCK_COLS)).to(tl.int64)
    row_mask = rows < n_indices
    mask = row_mask[:, None] & (cols[None, :] < dim)
    indices = tl.load(indices_ptr + rows, mask=row_mask, other=0).to(tl.int64)
    found = tl.load(table_ptr + indices[:, None] * table_row_stride + cols[None, :] * table_col_stride, mask=mask)
    tl.store(out_ptr + rows[:, None] * out_row_stride + cols[None, :], found, mask=mask)


def embedding(indices: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """The rows of the table, (entries, dim) of any strides, that the indices, (count), name."""
    indices = indices.contiguous()
    n_indices, dim = indices.numel(), table.shape[1]
    out = torch.empty((n_indices, dim), dtype=table.dtype, device=table.device)
    if out.numel() == 0:
        return out
    if table.shape[0] == 0:
        raise IndexError("the table is empty")
    block_rows, block_cols = 16, 64
    if triton.cdiv(dim, block_cols) > 65_535:
        raise ValueError("a row is longer than a grid is along y")
    embedding_kernel[(triton.cdiv(n_indices, block_rows), triton.cdiv(dim, block_cols))](
        indices,
        table,
        out,
        n_indices,
        dim,
        table.stride(0),
        table.stride(1),
        out.stride(0),
        BLOCK_ROWS=block_rows,
        BLOCK_COLS=block_cols,
    )
    return out
