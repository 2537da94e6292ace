"""The rank of every element within its row, ties sharing their mean rank (as for Spearman's correlation).

rank = 1 + the number of smaller elements + (the number of equal ones - 1) / 2, as float32. A NaN has the rank NaN and
counts for no other; -0 and 0 are equal. Every tile of 32 elements is compared with all of the row.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 32


@triton.jit
def rank_kernel(x, out, tiles, cols, xr, xc, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    row = (program // tiles).to(tl.int64)
    i = (program % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mine = tl.load(x + row * xr + i * xc, mask=i < cols, other=0.0).to(tl.float32)
    less = tl.zeros([BLOCK], dtype=tl.int32)
    equal = tl.zeros([BLOCK], dtype=tl.int32)
    for start in range(0, cols, BLOCK):
        j = start + tl.arange(0, BLOCK).to(tl.int64)
        theirs = tl.load(x + row * xr + j * xc, mask=j < cols, other=float("nan")).to(tl.float32)
        less += tl.sum((theirs[None, :] < mine[:, None]).to(tl.int32), axis=1)
        equal += tl.sum((theirs[None, :] == mine[:, None]).to(tl.int32), axis=1)
    rank = less.to(tl.float32) + (equal.to(tl.float32) + 1.0) / 2.0
    rank = tl.where(mine == mine, rank, float("nan"))
    tl.store(out + row * cols + i, rank, mask=i < cols)


def average_ranks(x):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("average_ranks takes float32, float16 or bfloat16")
    if x.dim() != 2:
        raise ValueError("average_ranks takes (rows, cols)")
    rows, cols = x.shape
    if cols >= 2**24:
        raise ValueError("average_ranks takes rows of fewer than 2**24 elements, whose ranks float32 holds")
    out = torch.empty((rows, cols), dtype=torch.float32, device=x.device)
    tiles = triton.cdiv(cols, BLOCK)
    if rows * tiles >= 2**31:
        raise ValueError("average_ranks takes fewer than 2**31 tiles")
    if out.numel():
        rank_kernel[(rows * tiles,)](x, out, tiles, cols, *x.stride(), BLOCK=BLOCK)
    return out


def reference(x):
    less = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
    equal = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
    for row in range(x.shape[0]):
        kept = x[row][~torch.isnan(x[row])].contiguous().sort().values
        mine = x[row].contiguous()
        below = torch.searchsorted(kept, mine)
        upto = torch.searchsorted(kept, mine, right=True)
        less[row] = below.float()
        equal[row] = (upto - below).float()
    return torch.where(torch.isnan(x), float("nan"), less + (equal + 1.0) / 2.0)


ranked = Subject(average_ranks, reference=reference, inputs=[Tensor("rows", "cols")])
