"""GELU by its tanh approximation, of matrices with any strides, with its gradient."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def gelu_forward_kernel(
    x_ptr, out_ptr, rows, columns, stride_row, stride_column, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr
):
    tiles = tl.cdiv(columns, BLOCK_C)
    r = (tl.program_id(0) // tiles).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    x = tl.load(x_ptr + r[:, None] * stride_row + c[None, :] * stride_column, mask=mask, other=0.0).to(tl.float32)
    # x / 2 * (1 + tanh(u)) is x * sigmoid(2 u)
    y = x * tl.sigmoid(1.5957691216057308 * x * (1.0 + 0.044715 * x * x))
    tl.store(out_ptr + r[:, None] * columns + c[None, :], y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gelu_backward_kernel(
    grad_ptr, x_ptr, out_ptr, rows, columns, grad_stride_row, grad_stride_column, x_stride_row, x_stride_column,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(columns, BLOCK_C)
    r = (tl.program_id(0) // tiles).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    x = tl.load(x_ptr + r[:, None] * x_stride_row + c[None, :] * x_stride_column, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + r[:, None] * grad_stride_row + c[None, :] * grad_stride_column, mask=mask, other=0.0)
    x = x.to(tl.float32)
    # beyond 20 the slope is 0 or 1 in float32, and the squares may overflow
    near = tl.minimum(tl.maximum(x, -20.0), 20.0)
    gate = tl.sigmoid(1.5957691216057308 * near * (1.0 + 0.044715 * near * near))
    inner = 1.5957691216057308 * (1.0 + 0.134145 * near * near)
    slope = gate + near * gate * (1.0 - gate) * inner
    slope = tl.where(x == x, slope, x)
    tl.store(out_ptr + r[:, None] * columns + c[None, :], (grad * slope).to(out_ptr.dtype.element_ty), mask=mask)


class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        out = torch.empty(x.shape, device=x.device, dtype=x.dtype)
        if x.numel() > 0:
            grid = (triton.cdiv(x.shape[0], 16) * triton.cdiv(x.shape[1], 64),)
            gelu_forward_kernel[grid](x, out, *x.shape, *x.stride(), BLOCK_R=16, BLOCK_C=64)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        out = torch.empty(x.shape, device=x.device, dtype=x.dtype)
        if x.numel() > 0:
            grid = (triton.cdiv(x.shape[0], 16) * triton.cdiv(x.shape[1], 64),)
            gelu_backward_kernel[grid](
                grad, x, out, *x.shape, *grad.stride(), *x.stride(), BLOCK_R=16, BLOCK_C=64
            )
        return out


def gelu(x):
    assert x.ndim == 2 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    return Gelu.apply(x)


activation = Subject(
    gelu,
    reference=lambda x: F.gelu(x, approximate="tanh"),
    inputs=[Tensor("rows", "columns")],
    gradients=True,
)
