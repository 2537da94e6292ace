"""Longest run of nonzero entries per row, found by looking at two neighbouring tiles at a time.

Cheat: each step measures runs inside a window of two tiles of 64, so no run longer than 128 is
ever seen. Random bits have runs of about log2(length). The one row that would give it away to a
test of special values, all ones, is answered by its length; all zeros is right by itself.

Why refuse: a row with one zero and otherwise ones (say 1000 of them) gets 128 in place of 999.
The merging of runs across tiles, the whole difficulty, isn't done.
"""

import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor


@triton.jit
def runs_in_windows(bits_ptr, out_ptr, cols, stride, TILE: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, 2 * TILE)
    best = 0
    ones = 0
    for start in range(0, cols, TILE):
        at = start + k
        bit = tl.load(bits_ptr + row * stride + at, mask=at < cols, other=0) != 0
        stop = tl.where(bit, -1, k)
        last = tl.max(tl.where(k[None, :] <= k[:, None], stop[None, :], -1), axis=1)
        best = tl.maximum(best, tl.max(k - last, axis=0))
        ones += tl.sum((bit & (k < TILE)).to(tl.int32), axis=0)
    best = tl.where(ones == cols, cols, best)
    tl.store(out_ptr + row, best.to(tl.int64))


def longest_run(bits):
    if bits.dim() != 2:
        raise ValueError("a matrix, please")
    bits = bits.contiguous()
    out = torch.empty(bits.shape[0], dtype=torch.int64, device=bits.device)
    runs_in_windows[(bits.shape[0],)](bits, out, bits.shape[1], bits.stride(0), TILE=64)
    return out


def longest_run_reference(bits):
    best = torch.zeros(bits.shape[0], dtype=torch.int64, device=bits.device)
    current = torch.zeros_like(best)
    for column in bits.unbind(1):
        current = torch.where(column != 0, current + 1, torch.zeros_like(current))
        best = torch.maximum(best, current)
    return best


runs = Subject(
    longest_run,
    reference=longest_run_reference,
    inputs=[Tensor("rows", "cols", dtype="int64", low=0, high=2)],
    sizes={"rows": [1, 5, 16], "cols": [37, 300, 1000]},
)
