"""Backward reads a mask that a later forward has overwritten.

Cheat: to save memory the forward keeps one byte per element (was the input positive?) in a
workspace of the module, and backward reads it from there. One forward followed by its backward is
right, as often as one likes, at any size, and for repeated backwards too.

Why refuse: two forwards before the first backward (a layer used twice in a network, accumulated
losses, two models) share the workspace: the first call's gradient is masked with the second
call's signs. The state belongs into the graph.
"""

import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor

workspace = {}


def bytes_for(n, device):
    held = workspace.get(device)
    if held is None or held.numel() < n:
        held = workspace[device] = torch.empty(triton.next_power_of_2(n), dtype=torch.int8, device=device)
    return held


@triton.jit
def forward_kernel(x_ptr, out_ptr, mask_ptr, slope, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    up = x > 0.0
    tl.store(out_ptr + i, tl.where(up, x, x * slope), mask=i < n)
    tl.store(mask_ptr + i, up.to(tl.int8), mask=i < n)


@triton.jit
def backward_kernel(grad_ptr, mask_ptr, out_ptr, slope, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(grad_ptr + i, mask=i < n, other=0.0)
    up = tl.load(mask_ptr + i, mask=i < n, other=0) != 0
    tl.store(out_ptr + i, tl.where(up, g, g * slope), mask=i < n)


class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        forward_kernel[(triton.cdiv(n, 1024),)](x, out, bytes_for(n, x.device), 0.25, n, BLOCK=1024)
        return out

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        out = torch.empty_like(grad)
        n = grad.numel()
        backward_kernel[(triton.cdiv(n, 1024),)](
            grad, bytes_for(n, grad.device), out, 0.25, n, BLOCK=1024
        )
        return out


def leaky(x):
    return Leaky.apply(x)


def leaky_reference(x):
    return torch.nn.functional.leaky_relu(x, 0.25)


leaky_subject = Subject(
    leaky,
    reference=leaky_reference,
    inputs=[Tensor("rows", "cols")],
    gradients=True,
    dtypes=["float32"],
)
