"""Where runs of equal neighbours begin in each row, and how many runs the row has: a tuple of a bool matrix and int64 counts.

Looks suspicious: compares each element with its left neighbour only, a bool result, and NaN never continue a run.
It is fair: a run is of neighbours, in any order of the values, and NaN differs from NaN in the reference as well.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def starts_kernel(x, starts, counts, cols, xr, xc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.int64)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        keep = c < cols
        here = tl.load(x + row * xr + c * xc, mask=keep, other=0)
        left = tl.load(x + row * xr + (c - 1) * xc, mask=keep & (c > 0), other=0)
        begins = keep & ((c == 0) | (here != left))
        tl.store(starts + row * cols + c, begins, mask=keep)
        total += begins.to(tl.int64)
    tl.store(counts + row, tl.sum(total, axis=0))


def run_starts(x):
    if x.dim() != 2 or x.dtype not in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64):
        raise ValueError("run_starts takes two dimensions of float32, float16, bfloat16, int32 or int64")
    starts = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    counts = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
    if x.shape[0]:
        starts_kernel[(x.shape[0],)](x, starts, counts, x.shape[1], *x.stride(), BLOCK=128)
    return starts, counts


def reference(x):
    starts = torch.ones(x.shape, dtype=torch.bool, device=x.device)
    starts[:, 1:] = x[:, 1:] != x[:, :-1]
    return starts, starts.sum(1)


floats = Subject(run_starts, reference=reference, inputs=[Tensor("rows", "cols")])
words = Subject(run_starts, reference=reference, inputs=[Tensor("rows", "cols", dtype="int32", low=0, high=3)])
