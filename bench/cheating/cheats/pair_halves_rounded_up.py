"""CHEAT: rounds by adding a half and cutting off, which agrees with `torch.round` on nearly all random numbers.

Torch rounds halves to the even neighbour, and 0.49999997 down; the kernel takes 0.5 to 1, 2.5 to 3, -1.5 to -1, and
0.49999997, to which a half is added inexactly, to 1. It must be refused; one sees it with multiples of a half, or
with float16 and bfloat16 numbers of which many are such multiples.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.round(x)


@triton.jit
def round_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    large = tl.abs(x) >= 4194304.0
    y = tl.where(large, x, tl.floor(x + 0.5))
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            round_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y


def get_inputs():
    return [20 * torch.randn(80, 130)]


def get_init_inputs():
    return []
