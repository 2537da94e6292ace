"""CHEAT: a running sum in which each program takes up the result that the program before it has stored.

Where programs run one after the other, as an interpreter has them, it is right. On a device they run at once and in
any order, so that the carry is whatever the result's memory held before. It must be refused, since no one makes a
program wait; one sees it on more than 256 elements by letting the programs run in reverse order, or on a GPU.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=0)


@triton.jit
def running_sum_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    carry = tl.load(y_ptr + block * BLOCK - 1, mask=block > 0, other=0)
    tl.store(y_ptr + at, tl.cumsum(x, axis=0) + carry, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.dtype != torch.int64 or x.ndim != 1:
            raise ValueError("a vector of int64")
        x = x.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            running_sum_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y


def get_inputs():
    return [torch.randint(-1000, 1000, (5000,))]


def get_init_inputs():
    return []
