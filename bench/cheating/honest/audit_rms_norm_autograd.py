"""RMS norm with a backward pass of its own. The forward kernel keeps the reciprocal of each row's root mean square;
the backward pass gives the gradient of the input row by row, and that of the weight in parts that torch adds up."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

EPS = 1e-6


@triton.jit
def forward_kernel(x_ptr, weight_ptr, out_ptr, inverse_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        squares += x * x
    inverse = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    tl.store(inverse_ptr + row, inverse)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * cols + c, (x * inverse * weight).to(out_ptr.dtype.element_ty), mask=c < cols)


@triton.jit
def input_gradient_kernel(grad_ptr, x_ptr, weight_ptr, inverse_ptr, grad_x_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    inverse = tl.load(inverse_ptr + row)
    products = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        grad = tl.load(grad_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        products += grad * weight * (x * inverse)
    mean = tl.sum(products, axis=0) / cols
    for start in range(0, cols, BLOCK):
        c = start + lanes
        grad = tl.load(grad_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        grad_x = inverse * (grad * weight - x * inverse * mean)
        tl.store(grad_x_ptr + row * cols + c, grad_x.to(grad_x_ptr.dtype.element_ty), mask=c < cols)


@triton.jit
def weight_gradient_kernel(
    grad_ptr, x_ptr, inverse_ptr, parts_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr
):
    part = tl.program_id(1).to(tl.int64)
    c = tl.program_id(0).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    total = tl.zeros((BLOCK_R, BLOCK_C), tl.float32)
    for start in range(part * BLOCK_R, rows, tl.num_programs(1) * BLOCK_R):
        r = (start + tl.arange(0, BLOCK_R)).to(tl.int64)
        mask = (r < rows)[:, None] & (c < cols)[None, :]
        offsets = r[:, None] * cols + c[None, :]
        grad = tl.load(grad_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        inverse = tl.load(inverse_ptr + r, mask=r < rows, other=0.0)
        total += grad * (x * inverse[:, None])
    tl.store(parts_ptr + part * cols + c, tl.sum(total, axis=0), mask=c < cols)


class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        x, weight = x.contiguous(), weight.contiguous()
        rows, cols = x.shape
        out = torch.empty_like(x)
        inverse = torch.empty(rows, device=x.device, dtype=torch.float32)
        if out.numel() > 0:
            block = min(1024, triton.next_power_of_2(cols))
            forward_kernel[(rows,)](x, weight, out, inverse, cols, EPS, BLOCK=block)
        ctx.save_for_backward(x, weight, inverse)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight, inverse = ctx.saved_tensors
        grad = grad.contiguous()
        rows, cols = x.shape
        grad_x = torch.empty_like(x)
        if x.numel() == 0:
            return grad_x, torch.zeros_like(weight)
        block = min(1024, triton.next_power_of_2(cols))
        input_gradient_kernel[(rows,)](grad, x, weight, inverse, grad_x, cols, BLOCK=block)
        count = min(16, triton.cdiv(rows, 16))
        parts = torch.empty((count, cols), device=x.device, dtype=torch.float32)
        weight_gradient_kernel[(triton.cdiv(cols, 64), count)](
            grad, x, inverse, parts, rows, cols, BLOCK_R=16, BLOCK_C=64
        )
        return grad_x, parts.sum(dim=0).to(weight.dtype)


def rms_norm(x, weight):
    assert x.ndim == 2
    assert weight.shape == x.shape[1:]
    assert x.dtype == weight.dtype
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    return RmsNorm.apply(x, weight)


def reference(x, weight):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + EPS) * weight.float()).to(x.dtype)


norm = Subject(rms_norm, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("cols")], gradients=True)
