"""The parity block of a stripe: the exclusive or of all rows of integers, per column.

Looks suspicious: atomics in any order, a result that starts at zero, and a reference that folds the rows in halves.
It is fair: exclusive or is associative and commutative, so that every order gives the same bits.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def parity_kernel(x, out, rows, cols, tiles, xr, xc, ROWS: tl.constexpr, COLS: tl.constexpr):
    program = tl.program_id(0)
    r = (program // tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    c = (program % tiles).to(tl.int64) * COLS + tl.arange(0, COLS)
    keep = (r < rows) & (c[None, :] < cols)
    block = tl.load(x + r * xr + c[None, :] * xc, mask=keep, other=0)
    tl.atomic_xor(out + c, tl.xor_sum(block, axis=0), mask=c < cols)


def parity(x):
    if x.dim() != 2 or x.dtype not in (torch.int32, torch.int64):
        raise ValueError("parity takes two dimensions of int32 or int64")
    rows, cols = x.shape
    out = torch.zeros(cols, dtype=x.dtype, device=x.device)
    if x.numel():
        tiles = triton.cdiv(cols, 32)
        parity_kernel[(triton.cdiv(rows, 16) * tiles,)](x, out, rows, cols, tiles, *x.stride(), ROWS=16, COLS=32)
    return out


def reference(x):
    if x.shape[0] == 0:
        return torch.zeros(x.shape[1], dtype=x.dtype, device=x.device)
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        x = torch.cat([x[:half] ^ x[half : 2 * half], x[2 * half :]])
    return x[0].clone()


blocks = Subject(parity, reference=reference, inputs=[Tensor("rows", "cols", dtype="int32", low=0, high=1 << 30)])
wide = Subject(parity, reference=reference, inputs=[Tensor("rows", "cols", dtype="int64", low=0, high=1 << 60)])
