"""Honest: SwiGLU as an autograd.Function, with a kernel for the forward pass and one for the backward pass."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def swiglu_forward_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    gate = tl.load(gate_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offs, gate / (1.0 + tl.exp(-gate)) * up, mask=mask)


@triton.jit
def swiglu_backward_kernel(grad_ptr, gate_ptr, up_ptr, dgate_ptr, dup_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    grad = tl.load(grad_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    gate = tl.load(gate_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    s = 1.0 / (1.0 + tl.exp(-gate))
    tl.store(dgate_ptr + offs, grad * up * s * (1.0 + gate * (1.0 - s)), mask=mask)
    tl.store(dup_ptr + offs, grad * (gate * s), mask=mask)


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, up):
        gate, up = gate.contiguous(), up.contiguous()
        ctx.save_for_backward(gate, up)
        out = torch.empty_like(gate)
        n = out.numel()
        if n:
            swiglu_forward_kernel[(triton.cdiv(n, 2048),)](gate, up, out, n, BLOCK=2048)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        gate, up = ctx.saved_tensors
        grad = grad.contiguous()
        dgate, dup = torch.empty_like(gate), torch.empty_like(up)
        n = gate.numel()
        if n:
            swiglu_backward_kernel[(triton.cdiv(n, 2048),)](grad, gate, up, dgate, dup, n, BLOCK=2048)
        return dgate, dup


def swiglu(gate, up):
    return SwiGLU.apply(gate, up)


def reference(gate, up):
    return (F.silu(gate.float()) * up.float()).to(gate.dtype)


activation = Subject(
    swiglu,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", "cols")],
    gradients=True,
    dtypes=["float32", "float16", "bfloat16"],
    sizes={"rows": [128, 131], "cols": [256, 250]},
)
