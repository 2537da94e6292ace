"""Uniform noise in [-1/2, 1/2) added to each element, drawn by a counter: the seed and the element's position give the number.

Looks suspicious: random numbers without torch's generator, large constants, products that wrap around, the same noise at each call.
It is fair: splitmix64 of seed and position is the definition, and the reference computes just these bits.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
FIRST = 0xBF58476D1CE4E5B9 - (1 << 64)
SECOND = 0x94D049BB133111EB - (1 << 64)


@triton.jit
def jitter_kernel(x, seed, out, count, cols, xr, xc, golden, first, second, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    z = tl.load(seed) + (i + 1) * golden
    z = (z ^ ((z >> 30) & 0x3FFFFFFFF)) * first
    z = (z ^ ((z >> 27) & 0x1FFFFFFFFF)) * second
    z = z ^ ((z >> 31) & 0x1FFFFFFFF)
    noise = ((z >> 40) & 0xFFFFFF).to(tl.float32) * (1.0 / 16777216.0) - 0.5
    value = tl.load(x + (i // cols) * xr + (i % cols) * xc, mask=keep, other=0.0).to(tl.float32)
    tl.store(out + i, value + noise, mask=keep)


def jitter(x, seed):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2:
        raise ValueError("jitter takes float32, float16 or bfloat16 of two dimensions")
    if seed.dtype != torch.int64 or seed.numel() != 1 or seed.device != x.device:
        raise ValueError("the seed is one int64 on the same device")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        grid = (triton.cdiv(out.numel(), 256),)
        jitter_kernel[grid](x, seed, out, out.numel(), x.shape[1], *x.stride(), GOLDEN, FIRST, SECOND, BLOCK=256)
    return out


def reference(x, seed):
    i = torch.arange(x.numel(), device=x.device, dtype=torch.int64).view(x.shape)
    z = seed.reshape(()) + (i + 1) * GOLDEN
    z = (z ^ ((z >> 30) & 0x3FFFFFFFF)) * FIRST
    z = (z ^ ((z >> 27) & 0x1FFFFFFFFF)) * SECOND
    z = z ^ ((z >> 31) & 0x1FFFFFFFF)
    return (x.float() + (((z >> 40) & 0xFFFFFF).float() / 16777216.0 - 0.5)).to(x.dtype)


jittered = Subject(jitter, reference=reference, inputs=[Tensor("rows", "cols"), Tensor(1, dtype="int64", low=0, high=1 << 30)])
