"""Scales, clamps and casts to float8_e4m3fn in a kernel.
Fair: the kernel makes the 8-bit floats; torch only allocates (twin of 25)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def quantise_kernel(x_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32) * scale
    x = tl.where(x > 448.0, 448.0, tl.where(x < -448.0, -448.0, x))
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty), mask=mask)


class Model(torch.nn.Module):
    def forward(self, x):
        return (x * 4.0).clamp(-448.0, 448.0).to(torch.float8_e4m3fn)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
        n = x.numel()
        if n:
            quantise_kernel[(triton.cdiv(n, 1024),)](x, out, n, 4.0, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
