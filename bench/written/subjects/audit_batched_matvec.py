"""A matrix times a vector for every member of a batch, plus a bias: out[b, r] = sum over c of a[b, r, c] * x[b, c], + bias[r].

A fixed number of persistent programs walks over tiles of 16 rows; each tile is summed in float32.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

PROGRAMS = 32
TILE_R = 16
TILE_C = 64


@triton.jit
def matvec_kernel(a, x, bias, out, tiles, row_tiles, rows, cols, ab, ar, ac, xb, xc, bs, TILE_R: tl.constexpr, TILE_C: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        batch = (tile // row_tiles).to(tl.int64)
        r = (tile % row_tiles).to(tl.int64) * TILE_R + tl.arange(0, TILE_R)
        acc = tl.zeros([TILE_R], dtype=tl.float32)
        for start in range(0, cols, TILE_C):
            c = start + tl.arange(0, TILE_C).to(tl.int64)
            keep = (r[:, None] < rows) & (c[None, :] < cols)
            left = tl.load(a + batch * ab + r[:, None] * ar + c[None, :] * ac, mask=keep, other=0.0).to(tl.float32)
            right = tl.load(x + batch * xb + c * xc, mask=c < cols, other=0.0).to(tl.float32)
            acc += tl.sum(left * right[None, :], axis=1)
        acc += tl.load(bias + r * bs, mask=r < rows, other=0.0).to(tl.float32)
        tl.store(out + batch * rows + r, acc, mask=r < rows)


def batched_matvec(a, x, bias):
    if a.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dtype != a.dtype or bias.dtype != a.dtype:
        raise ValueError("batched_matvec takes three tensors of float32, float16 or bfloat16")
    if a.dim() != 3 or x.shape != (a.shape[0], a.shape[2]) or bias.shape != (a.shape[1],):
        raise ValueError("batched_matvec takes (batch, rows, cols), (batch, cols) and (rows,)")
    if a.device != x.device or a.device != bias.device:
        raise ValueError("batched_matvec takes tensors of one device")
    batch, rows, cols = a.shape
    out = torch.empty((batch, rows), dtype=a.dtype, device=a.device)
    row_tiles = triton.cdiv(rows, TILE_R)
    tiles = batch * row_tiles
    if tiles >= 2**31 - PROGRAMS:
        raise ValueError("batched_matvec takes fewer than 2**31 tiles of rows")
    if tiles:
        matvec_kernel[(min(tiles, PROGRAMS),)](
            a, x, bias, out, tiles, row_tiles, rows, cols, *a.stride(), *x.stride(), bias.stride(0), TILE_R=TILE_R, TILE_C=TILE_C
        )
    return out


def reference(a, x, bias):
    return ((a.float() * x.float()[:, None, :]).sum(-1) + bias.float()).to(a.dtype)


multiplied = Subject(batched_matvec, reference=reference, inputs=[Tensor("batch", "rows", "cols"), Tensor("batch", "cols"), Tensor("rows")])
