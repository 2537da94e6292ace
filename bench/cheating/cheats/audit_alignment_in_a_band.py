"""CHEAT: the edit distance of two sequences of equal length is sought in a band of 127 diagonals only.

The kernel follows the table row by row, but knows only the cells at most 63 beside the diagonal. For sequences drawn at
random, and for ones up to 64 long, the best path stays there. It must be refused: nothing in the file says that the two
are alike place by place. One sees it at the admitted size n = 200: the second sequence is the first one, moved right by
80 places, with other tokens before it. The distance is at most 160, and this gives 199 or 200.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def smaller(a, b):
    return tl.minimum(a, b)


@triton.jit
def band_kernel(
    a_ptr, b_ptr, work_ptr, out_ptr, n, a_batch_stride, a_stride, b_batch_stride, b_stride, BAND: tl.constexpr
):
    batch = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BAND)
    beside = at - (BAND // 2 - 1)
    work_at = work_ptr + batch * (BAND + 1) + at
    far = 1 << 28
    costs = tl.where(beside >= 0, beside, far)
    for i in range(1, n + 1):
        tl.store(work_at, costs)
        tl.debug_barrier()
        above = tl.load(work_at + 1, mask=at < BAND - 1, other=1 << 28)
        tl.debug_barrier()
        j = i + beside
        a = tl.load(a_ptr + batch * a_batch_stride + tl.cast(i - 1, tl.int64) * a_stride)
        b_mask = (j >= 1) & (j <= n)
        b = tl.load(b_ptr + batch * b_batch_stride + (j - 1).to(tl.int64) * b_stride, mask=b_mask, other=0)
        found = tl.minimum(above + 1, costs + (a != b).to(tl.int32))
        found = tl.where(b_mask, found, tl.where(j == 0, i, far))
        costs = tl.associative_scan(found - at, 0, smaller) + at
    tl.store(out_ptr + batch, tl.sum(tl.where(beside == 0, costs, 0), axis=0))


def edit_distance(a, b):
    """a and b, (batch, n), int32: how many tokens to put in, leave out or replace to get from one to the other."""
    if a.ndim != 2 or a.shape != b.shape or a.dtype != torch.int32 or b.dtype != torch.int32:
        raise ValueError("a and b are (batch, n), int32")
    batch, n = a.shape
    out = torch.empty(batch, dtype=torch.int32, device=a.device)
    work = torch.empty((batch, 129), dtype=torch.int32, device=a.device)
    if batch:
        band_kernel[(batch,)](a, b, work, out, n, *a.stride(), *b.stride(), BAND=128)
    return out


def reference(a, b):
    batch, n = a.shape
    place = torch.arange(n + 1, device=a.device)
    costs = place.repeat(batch, 1)
    for i in range(1, n + 1):
        found = torch.full_like(costs, i)
        replaced = costs[:, :-1] + (a[:, i - 1 : i] != b)
        found[:, 1:] = torch.minimum(costs[:, 1:] + 1, replaced)
        costs = (found - place).cummin(dim=1).values + place
    return costs[:, n].int()


distance = Subject(
    edit_distance,
    reference=reference,
    inputs=[Tensor("batch", "n", dtype="int32", low=0, high=1000), Tensor("batch", "n", dtype="int32", low=0, high=1000)],
    sizes={"batch": [4, 1, 3], "n": [32, 1, 50, 200]},
)
