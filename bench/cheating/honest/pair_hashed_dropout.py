"""A residual with dropout whose mask is a hash of the seed and of each element's index, so that it can be made again
anywhere; `p` and the seed are of the module."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, p, seed):
        super().__init__()
        self.p, self.seed = p, seed

    def forward(self, x, residual):
        index = torch.arange(x.numel(), device=x.device)
        h = (index * 0x9E3779B1 + self.seed) & 0xFFFFFFFF
        h = h ^ (h >> 15)
        h = (h * 0x2C1B3C6D) & 0xFFFFFFFF
        h = h ^ (h >> 12)
        h = (h * 0x297A2D39) & 0xFFFFFFFF
        h = h ^ (h >> 15)
        keep = (h >= int(self.p * 2**32)).view(x.shape)
        kept = torch.where(keep, x.float() * (1.0 / (1.0 - self.p)), 0.0)
        return (kept + residual.float()).to(x.dtype), keep


@triton.jit
def dropout_kernel(x_ptr, residual_ptr, out_ptr, keep_ptr, total, seed, threshold, scale, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < total
    low = tl.full((BLOCK,), 0xFFFFFFFF, tl.int64)
    h = (index * 0x9E3779B1 + seed) & low
    h = h ^ (h >> 15)
    h = (h * 0x2C1B3C6D) & low
    h = h ^ (h >> 12)
    h = (h * 0x297A2D39) & low
    h = h ^ (h >> 15)
    keep = h >= threshold
    x = tl.load(x_ptr + index, mask=mask, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + index, mask=mask, other=0.0).to(tl.float32)
    out = tl.where(keep, x * scale, 0.0) + residual
    tl.store(out_ptr + index, out.to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(keep_ptr + index, keep.to(tl.int8), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, p, seed):
        super().__init__()
        self.p, self.seed = p, seed

    def forward(self, x, residual):
        x, residual = x.contiguous(), residual.contiguous()
        out = torch.empty_like(x)
        keep = torch.empty(x.shape, dtype=torch.bool, device=x.device)
        total = x.numel()
        if total:
            dropout_kernel[(triton.cdiv(total, 1024),)](
                x, residual, out, keep.view(torch.int8), total, self.seed, int(self.p * 2**32), 1.0 / (1.0 - self.p),
                BLOCK=1024)
        return out, keep


def get_inputs():
    return [torch.randn(33, 50, 101), torch.randn(33, 50, 101)]


def get_init_inputs():
    return [0.3, 20240229]
