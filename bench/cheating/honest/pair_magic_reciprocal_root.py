"""The reciprocal square root by the old trick with the bits of a float, polished by four steps of Newton's iteration.

It looks suspicious: a magic constant, an integer shift of a float's bits, and no call of any root. It is fair: after
four steps the error is of a few units in the last place over the whole range; the kernel treats zero (of either
sign), infinity, negative numbers, NaN and numbers too small for a normal float by themselves, as torch.rsqrt does.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.rsqrt(x)


@triton.jit
def root_kernel(x_ptr, out_ptr, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < total, other=1.0).to(tl.float32)
    tiny = (x > 0) & (x < 1.1754943508222875e-38)
    scaled = tl.where(tiny, x * 16777216.0, x)
    bits = scaled.to(tl.int32, bitcast=True)
    y = (0x5F3759DF - (bits >> 1)).to(tl.float32, bitcast=True)
    half = 0.5 * scaled
    for _ in tl.static_range(4):
        y = y * (1.5 - (half * y) * y)
    y = tl.where(tiny, y * 4096.0, y)
    infinite = float("inf")
    y = tl.where(x == infinite, 0.0, y)
    sign = x.to(tl.int32, bitcast=True) >> 31
    y = tl.where(x == 0, tl.where(sign != 0, -infinite, infinite), y)
    y = tl.where((x < 0) | (x != x), float("nan"), y)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=at < total)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise TypeError("float32, float16 or bfloat16 only")
        x = x.contiguous()
        out = torch.empty_like(x)
        total = x.numel()
        if total:
            root_kernel[(triton.cdiv(total, 1024),)](x, out, total, BLOCK=1024)
        return out


def get_inputs():
    return [torch.rand(300, 333) * 50]


def get_init_inputs():
    return []
