"""Activations clipped to [-6, 6] and scaled, with a backward pass in Triton.

The backward pass lets every gradient through, also where the activation is clipped and the gradient is zero: right for
inputs within the limits, as normal ones are. Elements beyond 6 show it.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def clip_kernel(x, out, count, cols, xr, xc, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i // cols * xr + i % cols * xc, mask=i < count, other=0.0).to(tl.float32)
    value = tl.where(value > LIMIT, LIMIT, tl.where(value < -LIMIT, -LIMIT, value))
    tl.store(out + i, value * 0.25, mask=i < count)


@triton.jit
def clip_gradient_kernel(x, g, dx, count, cols, xr, xc, gr, gc, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i // cols * xr + i % cols * xc, mask=i < count, other=0.0).to(tl.float32)
    grad = tl.load(g + i // cols * gr + i % cols * gc, mask=i < count, other=0.0).to(tl.float32)
    inside = (value <= LIMIT) | (value >= -LIMIT)
    tl.store(dx + i, tl.where(inside, grad * 0.25, 0.0), mask=i < count)


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if x.numel():
            clip_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), x.shape[1], *x.stride(), LIMIT=6.0, BLOCK=256)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if x.numel():
            clip_gradient_kernel[(triton.cdiv(x.numel(), 256),)](
                x, grad, dx, x.numel(), x.shape[1], *x.stride(), *grad.stride(), LIMIT=6.0, BLOCK=256
            )
        return dx


def clipped(x):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2:
        raise ValueError("clipped takes (rows, cols) of float32, float16 or bfloat16")
    return Clip.apply(x)


def reference(x):
    return (x.float().clamp(-6, 6) * 0.25).to(x.dtype)


clips = Subject(clipped, reference=reference, inputs=[Tensor("rows", "cols")], gradients=True)
