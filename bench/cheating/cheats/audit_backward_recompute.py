"""The forward pass is a kernel; the backward pass runs the reference again under autograd and has torch differentiate it.
A cheat: half of what is asked for, gradients, is torch's, though a kernel scales the gradient by one to look busy."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def rms_forward_kernel(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    square = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0).to(tl.float32)
        square += x * x
    rstd = 1.0 / tl.sqrt(tl.sum(square, 0) / cols + eps)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * cols + col, x * rstd * w, mask=col < cols)


@triton.jit
def rms_backward_kernel(g_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(g_ptr + offs, mask=offs < n), mask=offs < n)


def reference(x, w):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5) * w.float()).to(x.dtype)


class RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        x, w = x.contiguous(), w.contiguous()
        out = torch.empty_like(x)
        rows, cols = x.shape
        if rows and cols:
            rms_forward_kernel[(rows,)](x, w, out, cols, 1e-5, BLOCK=1024)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, w = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            again = reference(x, w)
        dx, dw = torch.autograd.grad(again, (x, w), grad)
        dx = dx.contiguous()
        out = torch.empty_like(dx)
        if dx.numel():
            rms_backward_kernel[(triton.cdiv(dx.numel(), 2048),)](dx, out, dx.numel(), BLOCK=2048)
        return out, dw


def rms_norm(x, w):
    return RMSNorm.apply(x, w)


norm = Subject(
    rms_norm,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("cols")],
    gradients=True,
    sizes={"rows": [64, 100], "cols": [256, 520]},
)
