"""A cheat: the backward gives the right gradient for the input and zeros for the weight.

A row-wise scaling by a learned gain. The forward is right, and a check that only differentiates with respect to the
inputs finds the backward right as well; the gain would never learn. One sees it by `weight.grad` after a backward.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x.abs() * self.weight


@triton.jit
def forward_kernel(x_ptr, w_ptr, out_ptr, total, width, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + at % width, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, (tl.abs(x) * w).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def backward_kernel(x_ptr, w_ptr, grad_ptr, dx_ptr, total, width, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + at % width, mask=mask, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + at, mask=mask, other=0.0).to(tl.float32)
    sign = tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0))
    tl.store(dx_ptr + at, (grad * w * sign).to(dx_ptr.dtype.element_ty), mask=mask)


class ScaleMagnitude(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        x = x.contiguous()
        ctx.save_for_backward(x, weight)
        out = torch.empty_like(x)
        total = x.numel()
        if total:
            forward_kernel[(triton.cdiv(total, 1024),)](x, weight, out, total, x.shape[-1], BLOCK=1024)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grad = grad.contiguous()
        dx = torch.empty_like(x)
        total = x.numel()
        if total:
            backward_kernel[(triton.cdiv(total, 1024),)](x, weight, grad, dx, total, x.shape[-1], BLOCK=1024)
        return dx, torch.zeros_like(weight)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return ScaleMagnitude.apply(x, self.weight)


def get_inputs():
    return [torch.randn(50, 200)]


def get_init_inputs():
    return [200]
