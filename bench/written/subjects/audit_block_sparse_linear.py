"""A matrix of sparse blocks, in block CSR, times a dense matrix, plus a bias per row.

Programs have one row of blocks and some columns; neighbouring ones share the columns of the dense matrix."""

from itertools import pairwise

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

SIDE = 16


@triton.autotune(
    configs=[triton.Config({"BLOCK_N": 32}, num_warps=2), triton.Config({"BLOCK_N": 64}, num_warps=4)],
    key=["n"],
)
@triton.jit
def block_sparse_kernel(
    blocks_ptr,
    columns_ptr,
    offsets_ptr,
    x_ptr,
    bias_ptr,
    out_ptr,
    block_rows,
    n,
    blocks_stride,
    blocks_row_stride,
    blocks_col_stride,
    columns_stride,
    x_row_stride,
    x_col_stride,
    bias_stride,
    SIDE: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    block_row = program % block_rows
    col = program // block_rows * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = col < n
    side = tl.arange(0, SIDE).to(tl.int64)
    begin = tl.load(offsets_ptr + block_row).to(tl.int64)
    end = tl.load(offsets_ptr + block_row + 1).to(tl.int64)

    acc = tl.zeros((SIDE, BLOCK_N), tl.float32)
    for at in range(begin, end):
        at = tl.cast(at, tl.int64)
        column = tl.load(columns_ptr + at * columns_stride).to(tl.int64)
        block_base = blocks_ptr + at * blocks_stride
        block = tl.load(block_base + side[:, None] * blocks_row_stride + side[None, :] * blocks_col_stride)
        k = column * SIDE + side
        x = tl.load(x_ptr + k[:, None] * x_row_stride + col[None, :] * x_col_stride, mask=mask[None, :], other=0.0)
        acc += tl.dot(block, x, input_precision="ieee")

    row = block_row * SIDE + side
    bias = tl.load(bias_ptr + row * bias_stride).to(tl.float32)
    out = acc + bias[:, None]
    tl.store(out_ptr + row[:, None] * n + col[None, :], out.to(out_ptr.dtype.element_ty), mask=mask[None, :])


def block_sparse_linear(
    blocks: torch.Tensor, columns: torch.Tensor, offsets: torch.Tensor, x: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    """blocks, (blocks, 16, 16), in columns of blocks columns, (blocks); offsets, (block_rows + 1), where each row's
    begin; x, (16 * block_cols, n); bias, (16 * block_rows): the product, (16 * block_rows, n). Blocks that are at one
    place add up."""
    block_rows = offsets.numel() - 1
    n = x.shape[1]
    out = torch.empty((block_rows * SIDE, n), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    block_sparse_kernel[lambda meta: (block_rows * triton.cdiv(n, meta["BLOCK_N"]),)](
        blocks,
        columns,
        offsets.contiguous(),
        x,
        bias,
        out,
        block_rows,
        n,
        *blocks.stride(),
        columns.stride(0),
        *x.stride(),
        bias.stride(0),
        SIDE=SIDE,
    )
    return out


def reference(
    blocks: torch.Tensor, columns: torch.Tensor, offsets: torch.Tensor, x: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    block_rows = offsets.numel() - 1
    tiles = x.to(wide).reshape(x.shape[0] // SIDE, SIDE, x.shape[1])
    products = blocks.to(wide) @ tiles[columns.long()]
    rows = [products[begin:end].sum(dim=0) for begin, end in pairwise(offsets.tolist())]
    out = torch.stack(rows).reshape(block_rows * SIDE, x.shape[1]) + bias.to(wide)[:, None]
    return out.to(x.dtype)


product = Subject(
    block_sparse_linear,
    reference=reference,
    inputs=[
        Tensor("blocks", "16", "16"),
        Tensor("blocks", dtype="int32", low=0, high="block_cols"),
        Offsets("block_rows", "blocks"),
        Tensor("16 * block_cols", "n"),
        Tensor("16 * block_rows"),
    ],
    name="block_sparse_linear",
    sizes={
        "blocks": [12, 1, 5, 30, 0],
        "block_cols": [4, 1, 3, 9],
        "block_rows": [4, 1, 3, 10],
        "n": [64, 1, 33, 100, 0],
    },
)
