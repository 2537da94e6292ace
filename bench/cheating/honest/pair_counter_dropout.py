"""Honest: dropout whose random numbers are a hash of the element's index and a seed, so that they are the same in every call
and in the reference, which computes the same hash with torch."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, p, seed):
        super().__init__()
        self.scale = 1.0 / (1.0 - p)
        self.threshold = int(p * 2**32)
        self.start = seed * 0x9E3779B9 & 0xFFFFFFFF

    def forward(self, x):
        h = torch.arange(x.numel(), dtype=torch.int64, device=x.device) + self.start & 0xFFFFFFFF
        h = h ^ h >> 16
        h = h * 0x7FEB352D & 0xFFFFFFFF
        h = h ^ h >> 15
        h = h * 0x846CA68B & 0xFFFFFFFF
        h = h ^ h >> 16
        keep = (h >= self.threshold).view(x.shape)
        return torch.where(keep, x * self.scale, torch.zeros_like(x))


@triton.jit
def hash_dropout_kernel(x_ptr, out_ptr, n, begin, threshold, scale, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    h = (offs + begin).to(tl.uint32)
    h = h ^ (h >> 16)
    h = h * tl.full((BLOCK,), 0x7FEB352D, tl.uint32)
    h = h ^ (h >> 15)
    h = h * tl.full((BLOCK,), 0x846CA68B, tl.uint32)
    h = h ^ (h >> 16)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    keep = h.to(tl.int64) >= threshold
    tl.store(out_ptr + offs, tl.where(keep, x * scale, 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, p, seed):
        super().__init__()
        self.scale = 1.0 / (1.0 - p)
        self.threshold = int(p * 2**32)
        self.start = seed * 0x9E3779B9 & 0xFFFFFFFF

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        if n:
            hash_dropout_kernel[(triton.cdiv(n, 2048),)](x, out, n, self.start, self.threshold, self.scale, BLOCK=2048)
        return out


def get_inputs():
    return [torch.randn(256, 300)]


def get_init_inputs():
    return [0.25, 1234]
