"""Gram matrices x @ x^T of a batch: tiles on and below the diagonal are computed, and the others are their mirror."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 32
BLOCK_K = 32


@triton.jit
def gram_kernel(
    x_ptr,
    out_ptr,
    m,
    depth,
    tiles,
    x_batch_stride,
    x_row_stride,
    x_k_stride,
    BLOCK: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    program = tl.program_id(0)
    batch = (program // (tiles * tiles)).to(tl.int64)
    row_tile = program // tiles % tiles
    col_tile = program % tiles
    if col_tile <= row_tile:
        rows = row_tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        cols = col_tile.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x_base = x_ptr + batch * x_batch_stride
        acc = tl.zeros((BLOCK, BLOCK), tl.float32)
        for start in range(0, depth, BLOCK_K):
            k = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_K)
            k_mask = k < depth
            a = tl.load(
                x_base + rows[:, None] * x_row_stride + k[None, :] * x_k_stride,
                mask=(rows[:, None] < m) & k_mask[None, :],
                other=0.0,
            )
            b = tl.load(
                x_base + k[:, None] * x_k_stride + cols[None, :] * x_row_stride,
                mask=k_mask[:, None] & (cols[None, :] < m),
                other=0.0,
            )
            acc += tl.dot(a, b, input_precision="ieee")
        value = acc.to(out_ptr.dtype.element_ty)
        out_base = out_ptr + batch * m * m
        inside = (rows[:, None] < m) & (cols[None, :] < m)
        tl.store(out_base + rows[:, None] * m + cols[None, :], value, mask=inside)
        if col_tile < row_tile:
            mirrored = (cols[:, None] < m) & (rows[None, :] < m)
            tl.store(out_base + cols[:, None] * m + rows[None, :], tl.trans(value), mask=mirrored)


def gram(x: torch.Tensor) -> torch.Tensor:
    """x, (batch, m, depth): (batch, m, m) in its dtype."""
    if x.ndim != 3:
        raise ValueError("x has three dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    batch, m, depth = x.shape
    out = torch.empty((batch, m, m), dtype=x.dtype, device=x.device)
    tiles = triton.cdiv(m, BLOCK)
    programs = batch * tiles * tiles
    if programs >= 2**31:
        raise ValueError("too many tiles for a grid")
    if programs:
        gram_kernel[(programs,)](x, out, m, depth, tiles, *x.stride(), BLOCK=BLOCK, BLOCK_K=BLOCK_K)
    return out


def reference(x: torch.Tensor) -> torch.Tensor:
    return x @ x.transpose(1, 2)


products = Subject(
    gram,
    reference=reference,
    inputs=[Tensor("batch", "m", "depth")],
    name="gram",
    sizes={"batch": [2, 1, 3], "m": [64, 1, 31, 100], "depth": [64, 1, 50, 1000]},
)
