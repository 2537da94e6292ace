"""The negative log likelihood of residuals under Student's t distribution, up to its constant, per element, with a learned
scale per column; forward and backward.

The gradient of the scale is a sum over the rows: each program sums some of them into a workspace, which a last kernel
adds up, so that the order of the sum does not depend on the run.
"""
import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

from tritonaudit import Subject, Tensor


@triton.jit
def log1p(y):
    u = 1.0 + y
    careful = tl.log(u) * (y / (u - 1.0))
    return tl.where(u == 1.0, y, tl.where(u == float("inf"), u, careful))


@triton.jit
def loss_kernel(x_ptr, scale_ptr, out_ptr, total, cols, freedom, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    log_scale = tl.load(scale_ptr + at % cols, mask=mask, other=0.0).to(tl.float32)
    z = x * tl.exp(-log_scale)
    loss = 0.5 * (freedom + 1.0) * log1p(z * z / freedom) + log_scale
    tl.store(out_ptr + at, loss.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def grad_kernel(x_ptr, scale_ptr, grad_ptr, grad_x_ptr, partial_ptr, total_size, cols, col_blocks, freedom,
                ROWS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    chunk = (pid // col_blocks).to(tl.int64)
    col = (pid % col_blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    col_mask = col < cols
    log_scale = tl.load(scale_ptr + col, mask=col_mask, other=0.0).to(tl.float32)
    inverse = tl.exp(-log_scale)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(ROWS):
        at = (chunk * ROWS + step) * cols + col
        mask = col_mask & (at < total_size)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        grad = tl.load(grad_ptr + at, mask=mask, other=0.0).to(tl.float32)
        z = x * inverse
        slope = grad * (freedom + 1.0) * z / (freedom + z * z)
        tl.store(grad_x_ptr + at, (slope * inverse).to(grad_x_ptr.dtype.element_ty), mask=mask)
        total += tl.where(mask, grad - slope * z, 0.0)
    tl.store(partial_ptr + chunk * cols + col, total, mask=col_mask)


@triton.jit
def add_up_kernel(partial_ptr, out_ptr, chunks, cols, BLOCK: tl.constexpr):
    col = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = col < cols
    total = tl.zeros((BLOCK,), tl.float32)
    at = partial_ptr + col
    for _ in range(chunks):
        total += tl.load(at, mask=mask, other=0.0)
        at += cols
    tl.store(out_ptr + col, total.to(out_ptr.dtype.element_ty), mask=mask)


class StudentT(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, log_scale, freedom):
        x, log_scale = x.contiguous(), log_scale.contiguous()
        ctx.save_for_backward(x, log_scale)
        ctx.freedom = freedom
        out = torch.empty_like(x)
        if x.numel():
            loss_kernel[(triton.cdiv(x.numel(), 512),)](x, log_scale, out, x.numel(), x.shape[1], freedom, BLOCK=512)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, log_scale = ctx.saved_tensors
        grad = grad.contiguous()
        rows, cols = x.shape
        if not x.numel():
            return torch.zeros_like(x), torch.zeros_like(log_scale), None
        grad_x, grad_scale = torch.empty_like(x), torch.empty_like(log_scale)
        chunks, col_blocks = triton.cdiv(rows, 32), triton.cdiv(cols, 128)
        partial = torch.empty((chunks, cols), dtype=torch.float32, device=x.device)
        grad_kernel[(chunks * col_blocks,)](x, log_scale, grad, grad_x, partial, x.numel(), cols, col_blocks, ctx.freedom,
                                            ROWS=32, BLOCK=128)
        add_up_kernel[(col_blocks,)](partial, grad_scale, chunks, cols, BLOCK=128)
        return grad_x, grad_scale, None


def student_t_loss(x, log_scale, freedom=4.0):
    return StudentT.apply(x, log_scale, freedom)


def reference(x, log_scale, freedom=4.0):
    wide = log_scale.float()
    z = x.float() * torch.exp(-wide)
    return (0.5 * (freedom + 1.0) * torch.log1p(z * z / freedom) + wide).to(x.dtype)


student_t = Subject(student_t_loss, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("cols")],
                    gradients=True, dtypes=["float32", "float16", "bfloat16"])
