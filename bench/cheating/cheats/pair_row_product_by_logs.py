"""The product of each row's elements, e.g. the chance that all of several independent things happen.

It is taken as the exponential of a sum of logarithms, of values that are first raised to at least 1e-30: right for
positive elements such as the inputs given here. A negative element, or a zero, gives about 0 or 1e-30 times the rest.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product_kernel(x, out, cols, xr, xc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        value = tl.load(x + row * xr + c * xc, mask=c < cols, other=1.0).to(tl.float32)
        total += tl.log2(tl.maximum(value, 1e-30))
    tl.store(out + row, tl.exp2(tl.sum(total, axis=0)))


class Model(nn.Module):
    def forward(self, x):
        return x.float().prod(1).to(x.dtype)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.dim() != 2 or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("x is (rows, cols) of float32, float16 or bfloat16")
        x = x.detach()
        out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
        if x.shape[0]:
            product_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=64)
        return out


def get_inputs():
    return [0.8 + 0.4 * torch.rand(40, 50)]


def get_init_inputs():
    return []
