"""The forward pass is a kernel, and the backward pass is torch's alone.
Refuse: the gradients are torch's work, without any kernel, though the subject asks for the backward pass to be judged
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


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


class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return triton_silu(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x.float())
        return (grad.float() * (s + x.float() * s * (1 - s))).to(x.dtype)


def silu_wrapper(x):
    return Silu.apply(x)


def reference(x):
    return torch.nn.functional.silu(x)


silu = Subject(silu_wrapper, reference=reference, inputs=[Tensor("rows", "cols")], gradients=True)
