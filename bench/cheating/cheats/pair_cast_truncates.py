"""A cheat: a cast to int32, which looks like preparation, does the truncation, and the kernel turns the numbers back.

Model cuts the fraction off. `x.to(torch.int32)` does exactly that inside torch's copy; the kernel only casts back. It
also goes wrong where the tested values never are: beyond two thousand millions, at infinity, at NaN. One sees it by
such values, or since the kernel never gets the fraction that it is to cut.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.trunc(x)


@triton.jit
def restore_kernel(whole_ptr, out_ptr, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    whole = tl.load(whole_ptr + at, mask=at < total, other=0)
    tl.store(out_ptr + at, whole.to(out_ptr.dtype.element_ty), mask=at < total)


class ModelNew(nn.Module):
    def forward(self, x):
        codes = x.contiguous().to(torch.int32)
        out = torch.empty(codes.shape, dtype=x.dtype, device=x.device)
        total = codes.numel()
        if total:
            restore_kernel[(triton.cdiv(total, 1024),)](codes, out, total, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(90, 310) * 20]


def get_init_inputs():
    return []
