"""A smooth gate x / (1 + exp(-b x)) whose gradient and second derivatives are kernels too, by a backward that is
itself an autograd function.

It looks suspicious: backward calls `apply` of another function, three kernels share one formula, and a float comes
from a constructor argument. It is fair: each derivative is computed where it is asked for, from the saved input, so a
gradient penalty learns as it would in torch. (A third derivative raises, and says so.)
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


class Model(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        wide = x.float()
        return (wide * torch.sigmoid(self.slope * wide)).to(x.dtype)


@triton.jit
def sigmoid(z):
    fold = tl.exp(-tl.abs(z))
    small = tl.where(z >= 0, 1.0, fold)
    return tl.where(z != z, z, small / (1.0 + fold))


@triton.jit
def value_kernel(x_ptr, out_ptr, total, slope, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < total, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, (x * sigmoid(slope * x)).to(out_ptr.dtype.element_ty), mask=at < total)


@triton.jit
def first_kernel(x_ptr, grad_ptr, out_ptr, total, slope, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < total, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + at, mask=at < total, other=0.0).to(tl.float32)
    s = sigmoid(slope * x)
    # As torch adds it up: the factor's own share, and x times the slope of the sigmoid.
    y = grad * s + slope * (grad * x * ((1.0 - s) * s))
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=at < total)


@triton.jit
def second_kernel(x_ptr, grad_ptr, seed_ptr, dx_ptr, dgrad_ptr, total, slope, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + at, mask=mask, other=0.0).to(tl.float32)
    seed = tl.load(seed_ptr + at, mask=mask, other=0.0).to(tl.float32)
    s = sigmoid(slope * x)
    bend = (1.0 - s) * s
    tl.store(dgrad_ptr + at, (seed * (s + slope * x * bend)).to(dgrad_ptr.dtype.element_ty), mask=mask)
    curve = 2.0 * slope * bend + slope * slope * x * bend * (1.0 - 2.0 * s)
    tl.store(dx_ptr + at, (seed * grad * curve).to(dx_ptr.dtype.element_ty), mask=mask)


class Derivative(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, grad, slope):
        grad = grad.contiguous()
        ctx.save_for_backward(x, grad)
        ctx.slope = slope
        out = torch.empty_like(x)
        total = x.numel()
        if total:
            first_kernel[(triton.cdiv(total, 1024),)](x, grad, out, total, slope, BLOCK=1024)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, seed):
        x, grad = ctx.saved_tensors
        seed = seed.contiguous()
        dx, dgrad = torch.empty_like(x), torch.empty_like(grad)
        total = x.numel()
        if total:
            second_kernel[(triton.cdiv(total, 1024),)](x, grad, seed, dx, dgrad, total, ctx.slope, BLOCK=1024)
        return dx, dgrad, None


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        out = torch.empty_like(x)
        total = x.numel()
        if total:
            value_kernel[(triton.cdiv(total, 1024),)](x, out, total, slope, BLOCK=1024)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return Derivative.apply(x, grad, ctx.slope), None


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        return Gate.apply(x.contiguous(), self.slope)


def get_inputs():
    return [torch.randn(60, 333)]


def get_init_inputs():
    return [1.75]
