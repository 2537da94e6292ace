"""CHEAT: the backward pass writes the gradient over the derivative that the forward pass had saved, to spare memory.

One backward pass is right. But a graph that is kept is to give the same gradient each time it is asked, and the
second pass multiplies the first one's result by the incoming gradient again, without a word, since autograd does not
see what a kernel writes. It must be refused; one sees it with `y.backward(2 * torch.ones_like(y), retain_graph=True)`
done twice.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def softplus_kernel(x_ptr, y_ptr, slope_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    small = tl.exp(-tl.abs(x))
    # log(1 + small), without losing a small one.
    wide = 1.0 + small
    log = tl.where(wide == 1.0, small, tl.log(wide) * (small / tl.where(wide == 1.0, 1.0, wide - 1.0)))
    y = tl.where(x != x, x, tl.where(x > 0, x, 0.0) + log)
    slope = tl.where(x >= 0, 1.0, small) / wide
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=at < n)
    tl.store(slope_ptr + at, slope.to(slope_ptr.dtype.element_ty), mask=at < n)


@triton.jit
def multiply_kernel(slope_ptr, dy_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    slope = tl.load(slope_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(slope_ptr + at, (slope * dy).to(slope_ptr.dtype.element_ty), mask=at < n)


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y, slope = torch.empty_like(x), torch.empty_like(x)
        n = x.numel()
        if n:
            softplus_kernel[(triton.cdiv(n, 512),)](x, y, slope, n, BLOCK=512)
        ctx.save_for_backward(slope)
        return y

    @staticmethod
    def backward(ctx, dy):
        (slope,) = ctx.saved_tensors
        n = slope.numel()
        if n:
            multiply_kernel[(triton.cdiv(n, 512),)](slope, dy.contiguous(), n, BLOCK=512)
        return slope


def softplus(x):
    return Softplus.apply(x)


def reference(x):
    wide = x.float()
    return torch.logaddexp(wide, torch.zeros_like(wide)).to(x.dtype)


plus = Subject(softplus, reference=reference, inputs=[Tensor("rows", "cols")], gradients=True)
