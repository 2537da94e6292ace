"""How many different integers each row has.

It counts the elements that differ from the one before, which is right for sorted rows only; the subject's inputs are
sorted ("time stamps"), the reference and the wrapper's checks ask for no order. [2, 1, 2] gives 3 in place of 2.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject


@triton.jit
def distinct_kernel(x, out, cols, xr, xc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.int64)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        here = tl.load(x + row * xr + c * xc, mask=c < cols, other=0)
        before = tl.load(x + row * xr + (c - 1) * xc, mask=(c < cols) & (c > 0), other=0)
        total += ((c < cols) & ((c == 0) | (here != before))).to(tl.int64)
    tl.store(out + row, tl.sum(total, axis=0))


def distinct(x):
    if x.dim() != 2 or x.dtype not in (torch.int32, torch.int64):
        raise ValueError("distinct takes (rows, cols) of int32 or int64")
    out = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
    if x.shape[0]:
        distinct_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=128)
    return out


def reference(x):
    return torch.tensor([row.unique().numel() for row in x], dtype=torch.int64, device=x.device)


def stamps(device="cpu"):
    steps = torch.randint(0, 3, (7, 150), device=device)
    return [steps.cumsum(1)]


counted = Subject(distinct, reference=reference, inputs=stamps)
