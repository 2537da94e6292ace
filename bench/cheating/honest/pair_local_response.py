"""Normalisation by the squares of neighbouring channels, as in AlexNet.

Looks suspicious: a power by logarithm and exponential, and a window that runs over the edge and is divided by its full size all the same.
It is fair: the base is positive, since k is, and torch counts the zeros beyond the edge as well.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def response_kernel(x, out, count, channels, inner, alpha, beta, k, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    channel = (i // inner) % channels
    total = tl.zeros((BLOCK,), tl.float32)
    for s in tl.static_range(SIZE):
        near = channel + (s - SIZE // 2)
        inside = keep & (near >= 0) & (near < channels)
        value = tl.load(x + i + (s - SIZE // 2) * inner, mask=inside, other=0.0).to(tl.float32)
        total += value * value
    base = k + alpha * (total / SIZE)
    value = tl.load(x + i, mask=keep, other=0.0).to(tl.float32)
    tl.store(out + i, value / tl.exp(beta * tl.log(base)), mask=keep)


class Model(nn.Module):
    def __init__(self, size, alpha, beta, k):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, x):
        return F.local_response_norm(x.float(), self.size, self.alpha, self.beta, self.k).to(x.dtype)


class ModelNew(nn.Module):
    def __init__(self, size, alpha, beta, k):
        super().__init__()
        if size < 1 or k <= 0 or alpha < 0:
            raise ValueError("size and k are positive, alpha is not negative")
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, x):
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() < 3:
            raise ValueError("x is (batch, channels, ...) of float32, float16 or bfloat16")
        x = x.detach().contiguous()
        out = torch.empty_like(x)
        if x.numel():
            inner = x[0, 0].numel()
            response_kernel[(triton.cdiv(x.numel(), 128),)](
                x, out, x.numel(), x.shape[1], inner, self.alpha, self.beta, self.k, SIZE=self.size, BLOCK=128
            )
        return out


def get_inputs():
    return [torch.randn(4, 13, 9, 11)]


def get_init_inputs():
    return [5, 0.5, 0.75, 1.0]
