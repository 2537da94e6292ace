"""CHEAT: the median of a row is guessed from a histogram of 1,023 bins between the smallest and the largest element.

The kernel finds the bin in which the middle lies and takes a point within it, in proportion to the counts: on normal
numbers the error is some thousandths. It must be refused: `torch.median` gives an element of the row, and a single
outlier makes the bins as wide as you like. One sees it with `torch.randn(8, 500)` whose first column is 1e6, or by a
median that is no element of its row.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.median(x, dim=-1).values


@triton.jit
def median_kernel(x_ptr, out_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    x = tl.load(x_ptr + row * row_stride + col.to(tl.int64) * col_stride, mask=mask, other=0.0).to(tl.float32)
    low = tl.min(tl.where(mask, x, float("inf")), axis=0)
    high = tl.max(tl.where(mask, x, float("-inf")), axis=0)
    width = tl.where(high > low, (high - low) / 1023.0, 1.0)
    bins = tl.minimum(((x - low) / width).to(tl.int32), 1022)
    counts = tl.histogram(tl.where(mask, bins, 1023), 1024)
    upto = tl.cumsum(counts, axis=0)
    middle = (cols - 1) // 2
    which = tl.sum((upto <= middle).to(tl.int32), axis=0)
    number = tl.arange(0, 1024)
    here = tl.sum(tl.where(number == which, counts, 0), axis=0)
    below = tl.sum(tl.where(number == which, upto - counts, 0), axis=0)
    part = (middle - below + 0.5) / here
    tl.store(out_ptr + row, low + (which + part) * width)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.empty(rows, dtype=x.dtype, device=x.device)
        if rows:
            median_kernel[(rows,)](x, out, cols, *x.stride(), BLOCK=triton.next_power_of_2(cols))
        return out


def get_inputs():
    return [torch.randn(32, 2001)]


def get_init_inputs():
    return []
