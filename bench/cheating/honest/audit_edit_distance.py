"""The edit distance (insertions, deletions, substitutions) between pairs of token sequences.

Looks suspicious: one program for a whole pair, a loop over the tokens of one side that cannot be parallel, the row of the
table kept in a workspace of two alternating lines with barriers, and a running minimum in place of the usual recurrence.
It is fair: new[j] = min over i <= j of (t[i] - i) + j is the recurrence new[j] = min(t[j], new[j - 1] + 1) written out.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def lesser(a, b):
    return tl.minimum(a, b)


@triton.jit
def distance_kernel(a, b, lines, out, n, m, ab, an, bb, bm, BLOCK: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    inside = (j > 0) & (j <= m)
    theirs = tl.load(b + pair * bb + (j - 1).to(tl.int64) * bm, mask=inside, other=0)
    row = j
    place = a + pair * ab
    for i in range(0, n):
        line = lines + (pair * 2 + i % 2) * BLOCK
        tl.store(line + j, row)
        tl.debug_barrier()
        shifted = tl.load(line + j - 1, mask=j > 0, other=0)
        mine = tl.load(place)
        change = shifted + (theirs != mine).to(tl.int32)
        best = tl.where(j == 0, i + 1, tl.minimum(row + 1, change))
        row = tl.associative_scan(best - j, 0, lesser) + j
        place += an
    tl.store(out + pair, tl.sum(tl.where(j == m, row, 0), axis=0))


def edit_distance(a, b):
    if a.dtype != torch.int64 or b.dtype != torch.int64 or a.dim() != 2 or b.dim() != 2 or a.shape[0] != b.shape[0]:
        raise ValueError("edit_distance takes int64 tokens of (pairs, n) and (pairs, m)")
    if a.device != b.device:
        raise ValueError("edit_distance takes tensors of one device")
    pairs, n = a.shape
    m = b.shape[1]
    if m > 8191:
        raise ValueError("edit_distance takes a second sequence of up to 8191 tokens")
    block = max(triton.next_power_of_2(m + 1), 2)
    lines = torch.empty((pairs, 2, block), dtype=torch.int32, device=a.device)
    out = torch.empty((pairs,), dtype=torch.int32, device=a.device)
    if pairs:
        distance_kernel[(pairs,)](a, b, lines, out, n, m, *a.stride(), *b.stride(), BLOCK=block, num_warps=1 if block <= 1024 else 4)
    return out


def reference(a, b):
    pairs, n = a.shape
    m = b.shape[1]
    row = [torch.full((pairs,), j, dtype=torch.int32, device=a.device) for j in range(m + 1)]
    for i in range(n):
        new = [torch.full((pairs,), i + 1, dtype=torch.int32, device=a.device)]
        for j in range(m):
            change = row[j] + (a[:, i] != b[:, j]).to(torch.int32)
            new.append(torch.minimum(torch.minimum(row[j + 1] + 1, new[j] + 1), change))
        row = new
    return row[m]


distances = Subject(
    edit_distance,
    reference=reference,
    inputs=[Tensor("pairs", "n", dtype="int64", low=0, high=4), Tensor("pairs", "m", dtype="int64", low=0, high=4)],
    dtypes=["float32"],
)
