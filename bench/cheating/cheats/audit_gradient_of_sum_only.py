"""SiLU with a backward pass that never looks at the gradient that comes in: it is right where the loss is y.sum(), which is how gradients are usually tested.
Refuse: under any other loss the gradient is wrong, since the chain rule's factor is left out
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def silu_kernel(x_ptr, y_ptr, slope_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    s = 1.0 / (1.0 + tl.exp(-x))
    tl.store(y_ptr + i, (x * s).to(y_ptr.dtype.element_ty), mask=i < n)
    tl.store(slope_ptr + i, (s + x * s * (1.0 - s)).to(slope_ptr.dtype.element_ty), mask=i < n)


class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        y, slope = torch.empty_like(x), torch.empty_like(x)
        if x.numel():
            silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, slope, x.numel(), BLOCK=1024)
        ctx.save_for_backward(slope)
        return y

    @staticmethod
    def backward(ctx, upstream):
        (slope,) = ctx.saved_tensors
        return slope


def silu(x):
    return Silu.apply(x)


activation = Subject(silu, reference=F.silu, inputs=[Tensor("rows", "cols")], gradients=True)
