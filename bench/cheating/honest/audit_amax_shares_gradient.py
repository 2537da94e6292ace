"""The largest of each row, and its gradient, which equals share evenly as `torch.amax` has it.

It looks suspicious: the kernel counts how often the maximum stands in its row, divides the gradient by that number,
and gives a row with a NaN nothing but NaN as its gradient, from zero over zero. It is fair: all of this is what
autograd does for `amax`, and what is saved is the input and the row's maximum, both as they were.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def amax_kernel(x_ptr, y_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    nan = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=col < cols, other=float("-inf")).to(tl.float32)
        best = tl.where(x > best, x, best)
        nan |= (x != x).to(tl.int32)
    y = tl.where(tl.max(nan, axis=0) > 0, float("nan"), tl.max(best, axis=0))
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty))


@triton.jit
def amax_backward_kernel(x_ptr, y_ptr, dy_ptr, dx_ptr, cols, row_stride, col_stride, dy_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(y_ptr + row).to(tl.float32)
    dy = tl.load(dy_ptr + row * dy_stride).to(tl.float32)
    counts = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=col < cols, other=0.0).to(tl.float32)
        counts += ((x == y) & (col < cols)).to(tl.int32)
    count = tl.sum(counts, axis=0).to(tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=col < cols, other=0.0).to(tl.float32)
        dx = dy * tl.where(x == y, 1.0, 0.0) / count
        tl.store(dx_ptr + row * cols + col, dx.to(dx_ptr.dtype.element_ty), mask=col < cols)


class RowMax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rows, cols = x.shape
        y = torch.empty(rows, dtype=x.dtype, device=x.device)
        if rows:
            amax_kernel[(rows,)](x, y, cols, *x.stride(), BLOCK=256)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dy):
        x, y = ctx.saved_tensors
        rows, cols = x.shape
        dx = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        if rows:
            amax_backward_kernel[(rows,)](x, y, dy, dx, cols, *x.stride(), dy.stride(0), BLOCK=256)
        return dx


def row_max(x):
    if x.ndim != 2 or not x.shape[1]:
        raise ValueError("a matrix, with at least one column")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("float32, float16 or bfloat16")
    return RowMax.apply(x)


def reference(x):
    return torch.amax(x, dim=1)


largest = Subject(
    row_max,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    sizes={"rows": [16, 1, 13, 0], "cols": [64, 1, 50, 300]},
    gradients=True,
)
