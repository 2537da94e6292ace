"""Bias, dropout and residual in one kernel, with the mask of what was kept. The random numbers are a hash of the seed
and of each element's place, so that the model draws the very same ones by integer arithmetic."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

WORD = 0xFFFFFFFF


class Model(nn.Module):
    def __init__(self, channels, p):
        super().__init__()
        self.p = p
        self.bias = nn.Parameter(torch.randn(channels))

    @staticmethod
    def mix(h):
        h = ((h ^ (h >> 16)) * 0x7FEB352D) & WORD
        h = ((h ^ (h >> 15)) * 0x6C68E9B5) & WORD
        return h ^ (h >> 16)

    def forward(self, x, residual, seed):
        place = torch.arange(x.numel(), device=x.device, dtype=torch.int64).reshape(x.shape)
        drawn = self.mix((place & WORD) ^ self.mix(((place >> 32) + seed) & WORD))
        kept = drawn >= int(self.p * 2**32)
        scaled = (x + self.bias) / (1.0 - self.p)
        return torch.where(kept, scaled, torch.zeros_like(scaled)) + residual, kept


@triton.jit
def mix(h):
    h = (h ^ (h >> 16)) * 0x7FEB352D
    h = (h ^ (h >> 15)) * 0x6C68E9B5
    return h ^ (h >> 16)


@triton.jit
def dropout_kernel(
    x_ptr, bias_ptr, residual_ptr, out_ptr, kept_ptr, total, channels, seed, threshold, scale, BLOCK: tl.constexpr
):
    places = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = places < total
    drawn = mix(places.to(tl.uint32) ^ mix(((places >> 32) + seed).to(tl.uint32)))
    kept = drawn.to(tl.int64) >= threshold
    x = tl.load(x_ptr + places, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + places % channels, mask=mask, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + places, mask=mask, other=0.0).to(tl.float32)
    y = tl.where(kept, (x + bias) * scale, 0.0) + residual
    tl.store(out_ptr + places, y.to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(kept_ptr + places, kept, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels, p):
        super().__init__()
        assert 0.0 <= p < 1.0
        self.p = p
        self.bias = nn.Parameter(torch.randn(channels))

    def forward(self, x, residual, seed):
        assert x.shape == residual.shape
        assert x.shape[-1] == self.bias.numel()
        assert x.dtype == residual.dtype
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x, residual = x.contiguous(), residual.contiguous()
        out = torch.empty_like(x)
        kept = torch.empty(x.shape, device=x.device, dtype=torch.bool)
        if (total := x.numel()) > 0:
            dropout_kernel[(triton.cdiv(total, 1024),)](
                x, self.bias, residual, out, kept, total, x.shape[-1], seed, int(self.p * 2**32), 1.0 / (1.0 - self.p),
                BLOCK=1024,
            )  # fmt: skip
        return out, kept


def get_inputs():
    return [torch.randn(3, 21, 70), torch.randn(3, 21, 70), 1234]


def get_init_inputs():
    return [70, 0.3]
