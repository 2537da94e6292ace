"""A torch.autograd.Function whose forward and backward are both Triton kernels.
Fair: both passes are kernels; torch only allocates (twin of 16)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, (x * tl.sigmoid(x)).to(out_ptr.dtype.element_ty), mask=mask)


def triton_silu(x):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.numel()
    if n:
        silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


@triton.jit
def silu_backward_kernel(x_ptr, grad_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    s = tl.sigmoid(x)
    tl.store(out_ptr + offsets, (grad * s * (1.0 + x * (1.0 - s))).to(out_ptr.dtype.element_ty), mask=mask)


class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return triton_silu(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = x.numel()
        if n:
            silu_backward_kernel[(triton.cdiv(n, 1024),)](x.contiguous(), grad.contiguous(), out, n, BLOCK=1024)
        return out


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.silu(x)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Silu.apply(x)


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
