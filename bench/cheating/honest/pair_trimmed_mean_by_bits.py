"""The mean of each row without its k smallest and k largest elements, found by halving a range of integers 32 times.

It looks suspicious: nothing is sorted, floats are read as integers, the bounds are guessed and corrected in a fixed
number of steps, and the sum counts the two bounds separately. It is fair: the bits of floats, with those of negative
ones turned over, have the order of the floats, 32 halvings leave one integer of 2^32, so that the bounds are exact
elements, and what equals a bound is counted as often as it is left after trimming. A NaN is the largest number, as it
is when torch sorts.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, trim):
        super().__init__()
        self.trim = trim

    def forward(self, x):
        kept = torch.sort(x.double(), dim=-1).values[:, self.trim : x.shape[1] - self.trim]
        return kept.mean(dim=-1).float()


@triton.jit
def turned(bits):
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def element_of_rank(order, mask, rank):
    low = tl.full((), -(2**31), tl.int64)
    high = tl.full((), 2**31 - 1, tl.int64)
    for _ in range(32):
        middle = (low + high) >> 1
        upto = tl.sum((mask & (order <= middle)).to(tl.int32), axis=0)
        enough = upto > rank
        high = tl.where(enough, middle, high)
        low = tl.where(enough, low, middle + 1)
    return high


@triton.jit
def trimmed_kernel(x_ptr, out_ptr, cols, trim, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    x = tl.load(x_ptr + row * row_stride + col.to(tl.int64) * col_stride, mask=mask, other=0.0)
    bits = tl.where(x == x, x.to(tl.int32, bitcast=True), 0x7FC00000)
    order = turned(bits).to(tl.int64)
    low = element_of_rank(order, mask, trim)
    high = element_of_rank(order, mask, cols - 1 - trim)
    inner = mask & (order > low) & (order < high)
    total = tl.sum(tl.where(inner, x.to(tl.float64), 0.0), axis=0)
    lows = tl.sum((mask & (order <= low)).to(tl.int32), axis=0) - trim
    highs = tl.sum((mask & (order >= high)).to(tl.int32), axis=0) - trim
    lowest = turned(low.to(tl.int32)).to(tl.float32, bitcast=True).to(tl.float64)
    highest = turned(high.to(tl.int32)).to(tl.float32, bitcast=True).to(tl.float64)
    total += lowest * lows.to(tl.float64) + highest * highs.to(tl.float64)
    mean = tl.where(low == high, lowest, total / (cols - 2 * trim).to(tl.float64))
    tl.store(out_ptr + row, mean.to(tl.float32))


class ModelNew(nn.Module):
    def __init__(self, trim):
        super().__init__()
        self.trim = trim

    def forward(self, x):
        if x.ndim != 2 or x.dtype != torch.float32 or not 2 * self.trim < x.shape[1] <= 8192:
            raise ValueError("x is (rows, cols), float32, with more than twice as many columns as are trimmed")
        out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
        if out.numel():
            block = triton.next_power_of_2(x.shape[1])
            trimmed_kernel[(x.shape[0],)](x, out, x.shape[1], self.trim, *x.stride(), BLOCK=block)
        return out


def get_inputs():
    return [torch.randn(20, 301)]


def get_init_inputs():
    return [30]
