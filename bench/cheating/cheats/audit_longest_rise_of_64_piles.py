"""CHEAT: the length of the longest rising subsequence of a row is found with 64 piles and no more.

The kernel deals each element on the first pile whose top is not smaller, and counts the piles. Numbers in no order
need about two times the root of their count, 45 for 500, so that 64 piles that fit into registers seem to be enough. It
must be refused: what needs another pile is dropped. One sees it with a row that rises all the way, `arange(200)` in
float32, where 200 is right and this gives 64.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def piles_kernel(x_ptr, out_ptr, cols, row_stride, col_stride, PILES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    pile = tl.arange(0, PILES)
    tops = tl.full((PILES,), float("inf"), tl.float32)
    used = tl.zeros((PILES,), tl.int32)
    for col in range(0, cols):
        x = tl.load(x_ptr + row * row_stride + tl.cast(col, tl.int64) * col_stride).to(tl.float32)
        first = tl.sum(((tops < x) & (used > 0)).to(tl.int32), axis=0)
        here = pile == first
        tops = tl.where(here, x, tops)
        used = tl.where(here, 1, used)
    tl.store(out_ptr + row, tl.sum(used, axis=0))


def longest_rise(x):
    """x, (rows, cols), of floats without NaN: how many elements the longest strictly rising subsequence has, int32."""
    if x.ndim != 2 or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is (rows, cols), float32, float16 or bfloat16")
    out = torch.empty(x.shape[0], dtype=torch.int32, device=x.device)
    if x.shape[0]:
        piles_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), PILES=64)
    return out


def reference(x):
    rows, cols = x.shape
    tops = torch.full((rows, cols + 1), float("inf"), device=x.device)
    used = torch.zeros((rows, cols + 1), dtype=torch.int32, device=x.device)
    for col in range(cols):
        value = x[:, col : col + 1].float()
        first = ((tops < value) & (used > 0)).sum(dim=1, keepdim=True)
        tops.scatter_(1, first, value)
        used.scatter_(1, first, 1)
    return used.sum(dim=1).int()


rise = Subject(
    longest_rise,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    sizes={"rows": [8, 1, 5], "cols": [64, 1, 200, 500]},
)
