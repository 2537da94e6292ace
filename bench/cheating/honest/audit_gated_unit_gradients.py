"""A gated linear unit, half of whose columns gate the other half, with a backward pass of its own. What is saved is the
input alone: the backward kernel computes the gate again."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def forward_kernel(x_ptr, out_ptr, n, half, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value_at = offsets + (offsets // half) * half
    value = tl.load(x_ptr + value_at, mask=mask, other=0.0).to(tl.float32)
    gate = tl.load(x_ptr + value_at + half, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, (value * tl.sigmoid(gate)).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def backward_kernel(grad_ptr, x_ptr, grad_x_ptr, n, half, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value_at = offsets + (offsets // half) * half
    grad = tl.load(grad_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    value = tl.load(x_ptr + value_at, mask=mask, other=0.0).to(tl.float32)
    opened = tl.sigmoid(tl.load(x_ptr + value_at + half, mask=mask, other=0.0).to(tl.float32))
    grad_gate = grad * value * (opened * (1.0 - opened))
    tl.store(grad_x_ptr + value_at, (grad * opened).to(grad_x_ptr.dtype.element_ty), mask=mask)
    tl.store(grad_x_ptr + value_at + half, grad_gate.to(grad_x_ptr.dtype.element_ty), mask=mask)


class GatedUnit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        half = x.shape[-1] // 2
        out = torch.empty((*x.shape[:-1], half), dtype=x.dtype, device=x.device)
        if n := out.numel():
            forward_kernel[(triton.cdiv(n, 512),)](x, out, n, half, BLOCK=512)
        ctx.save_for_backward(x)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        grad = grad.contiguous()
        grad_x = torch.empty_like(x)
        if n := grad.numel():
            backward_kernel[(triton.cdiv(n, 512),)](grad, x, grad_x, n, x.shape[-1] // 2, BLOCK=512)
        return grad_x


def gated_unit(x):
    assert x.ndim > 0
    assert x.shape[-1] % 2 == 0
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    return GatedUnit.apply(x)


def reference(x):
    return torch.nn.functional.glu(x.float(), dim=-1).to(x.dtype)


unit = Subject(gated_unit, reference=reference, inputs=[Tensor("rows", "2 * cols")], gradients=True)
