"""Each row of a matrix as many times as a count says, as `torch.repeat_interleave`.

It looks suspicious: the host waits for a number from the device, the size of the result depends on the data, and
torch takes the running sum of the counts. It is fair: no result can be allocated before its size is known, the sum
has one element a row, and every row of the result finds its source by a binary search in the kernel, which moves all
the data.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, counts):
        return torch.repeat_interleave(x, counts, dim=0)


@triton.jit
def repeat_kernel(
    x_ptr, ends_ptr, y_ptr, rows, cols, total, row_stride, col_stride, BR: tl.constexpr, BC: tl.constexpr
):
    r = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    low = tl.zeros((BR,), tl.int64)
    high = tl.zeros((BR,), tl.int64) + rows
    # The source is the first row that ends beyond r.
    while tl.max(high - low, axis=0) > 0:
        middle = (low + high) // 2
        searching = (low < high) & (r < total)
        beyond = tl.load(ends_ptr + middle, mask=searching, other=0) > r
        low = tl.where(searching & ~beyond, middle + 1, low)
        high = tl.where(searching & ~beyond, high, middle)
    for start in range(0, cols, BC):
        c = start + tl.arange(0, BC).to(tl.int64)
        mask = (r < total)[:, None] & (c < cols)[None, :]
        x = tl.load(x_ptr + low[:, None] * row_stride + c[None, :] * col_stride, mask=mask)
        tl.store(y_ptr + r[:, None] * cols + c[None, :], x, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, counts):
        if x.ndim != 2:
            raise ValueError("a matrix")
        rows, cols = x.shape
        if counts.shape != (rows,) or (rows and counts.min().item() < 0):
            raise ValueError("a count for each row, and none below zero")
        ends = counts.long().cumsum(dim=0)
        total = ends[-1].item() if rows else 0
        y = torch.empty((total, cols), dtype=x.dtype, device=x.device)
        if y.numel():
            repeat_kernel[(triton.cdiv(total, 16),)](x, ends, y, rows, cols, total, *x.stride(), BR=16, BC=64)
        return y


def get_inputs():
    return [torch.randn(90, 100), torch.randint(0, 6, (90,))]


def get_init_inputs():
    return []
