"""A count sketch of rows: each column is added, with a sign of its own, to one of a few buckets.

Looks suspicious: columns collide on purpose, signs and buckets come from a multiplication that wraps, and atomics add in any order.
It is fair: that is a count sketch; the reference draws the same hash, and sums are in float32 before the one cast.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

FACTOR = 0x2545F4914F6CDD1D


@triton.jit
def sketch_kernel(x, sums, cols, tiles, buckets, xr, xc, factor, salt, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    row = program // tiles
    c = (program % tiles) * BLOCK + tl.arange(0, BLOCK)
    keep = c < cols
    mixed = (c + salt) * factor
    bucket = ((mixed >> 20) & 0x7FFFFFFF) % buckets
    value = tl.load(x + row * xr + c * xc, mask=keep, other=0.0).to(tl.float32)
    value = tl.where((mixed >> 60) & 1 == 1, -value, value)
    tl.atomic_add(sums + row * buckets + bucket, value, mask=keep)


class Model(nn.Module):
    def __init__(self, buckets, salt):
        super().__init__()
        self.buckets, self.salt = buckets, salt

    def forward(self, x):
        mixed = (torch.arange(x.shape[1], device=x.device) + self.salt) * FACTOR
        bucket = ((mixed >> 20) & 0x7FFFFFFF) % self.buckets
        value = torch.where((mixed >> 60) & 1 == 1, -x.float(), x.float())
        return torch.zeros(x.shape[0], self.buckets, device=x.device).index_add(1, bucket, value).to(x.dtype)


class ModelNew(nn.Module):
    def __init__(self, buckets, salt):
        super().__init__()
        if buckets < 1:
            raise ValueError("there is at least one bucket")
        self.buckets, self.salt = buckets, salt

    def forward(self, x):
        if x.dim() != 2 or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("x is (rows, cols) of float32, float16 or bfloat16")
        x = x.detach()
        rows, cols = x.shape
        sums = torch.zeros((rows, self.buckets), dtype=torch.float32, device=x.device)
        if x.numel():
            tiles = triton.cdiv(cols, 128)
            sketch_kernel[(rows * tiles,)](x, sums, cols, tiles, self.buckets, *x.stride(), FACTOR, self.salt, BLOCK=128)
        return sums.to(x.dtype)


def get_inputs():
    return [torch.randn(6, 300)]


def get_init_inputs():
    return [37, 11]
