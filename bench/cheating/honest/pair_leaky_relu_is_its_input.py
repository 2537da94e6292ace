"""A leaky ReLU that changes its input and gives back the very same tensor, as `torch.nn.LeakyReLU(inplace=True)`
does.

It looks suspicious: no memory is allocated, the input has changed after the call, and the result is the input. It is
fair: the model does the same, by contract. What torch refuses to change in place, since elements of it share memory,
is refused here as well, and so is whatever lies in a way that does not rule it out at a glance.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

SLOPE = 0.125


class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.leaky_relu_(x, SLOPE)


@triton.jit
def leak_kernel(
    x_ptr, n, size1, size2, size3, stride0, stride1, stride2, stride3, SLOPE: tl.constexpr, B: tl.constexpr
):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    offset = at % size3 * stride3
    rest = at // size3
    offset += rest % size2 * stride2
    rest = rest // size2
    offset += rest % size1 * stride1 + rest // size1 * stride0
    x = tl.load(x_ptr + offset, mask=at < n, other=0.0)
    wide = x.to(tl.float32)
    tl.store(x_ptr + offset, tl.where(wide > 0, wide, wide * SLOPE).to(x.dtype), mask=at < n)


def may_overlap(x):
    reach = 0
    for stride, size in sorted((stride, size) for stride, size in zip(x.stride(), x.shape) if size > 1):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


class ModelNew(nn.Module):
    def forward(self, x):
        if x.ndim > 4 or x.requires_grad:
            raise ValueError("at most four dimensions, and no gradient")
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("float32, float16 or bfloat16")
        if x.numel():
            if may_overlap(x):
                raise RuntimeError("elements may share memory")
            sizes = (1,) * (4 - x.ndim) + tuple(x.shape)
            strides = (0,) * (4 - x.ndim) + x.stride()
            leak_kernel[(triton.cdiv(x.numel(), 512),)](x, x.numel(), *sizes[1:], *strides, SLOPE=SLOPE, B=512)
        return x


def get_inputs():
    return [torch.randn(4, 5, 33, 20)]


def get_init_inputs():
    return []
