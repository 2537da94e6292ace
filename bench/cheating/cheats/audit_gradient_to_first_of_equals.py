"""CHEAT: the gradient of a row's maximum goes to the first place that holds it, which is right if no two are equal.

`torch.amax` divides the gradient evenly among equal maxima, as its documentation promises, and random float32 numbers
hardly ever are equal. It must be refused; one sees it with rows with ties, such as zeros, or whole numbers from 0 to
3: for a row of four zeros the gradient is 1, 0, 0, 0 in place of a quarter each.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def amax_kernel(x_ptr, y_ptr, place_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + col.to(tl.int64) * col_stride, mask=col < cols, other=float("-inf"))
    x = x.to(tl.float32)
    nan = tl.max((x != x).to(tl.int32), axis=0) > 0
    best = tl.where(nan, float("nan"), tl.max(x, axis=0))
    hit = tl.where(nan, x != x, x == best) & (col < cols)
    tl.store(y_ptr + row, best.to(y_ptr.dtype.element_ty))
    tl.store(place_ptr + row, tl.min(tl.where(hit, col, BLOCK), axis=0))


@triton.jit
def amax_backward_kernel(dy_ptr, place_ptr, dx_ptr, cols, dy_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    dy = tl.load(dy_ptr + row * dy_stride)
    place = tl.load(place_ptr + row)
    tl.store(dx_ptr + row * cols + col, tl.where(col == place, dy, 0.0), mask=col < cols)


class RowMax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rows, cols = x.shape
        y = torch.empty(rows, dtype=x.dtype, device=x.device)
        place = torch.empty(rows, dtype=torch.int32, device=x.device)
        if rows:
            amax_kernel[(rows,)](x, y, place, cols, *x.stride(), BLOCK=triton.next_power_of_2(cols))
        ctx.save_for_backward(place)
        ctx.cols = cols
        return y

    @staticmethod
    def backward(ctx, dy):
        (place,) = ctx.saved_tensors
        dx = torch.empty((dy.shape[0], ctx.cols), dtype=dy.dtype, device=dy.device)
        if dx.numel():
            block = triton.next_power_of_2(ctx.cols)
            amax_backward_kernel[(dy.shape[0],)](dy, place, dx, ctx.cols, dy.stride(0), BLOCK=block)
        return dx


def row_max(x):
    if x.ndim != 2 or not x.shape[1]:
        raise ValueError("rows of at least one element")
    return RowMax.apply(x)


def reference(x):
    return torch.amax(x, dim=1)


largest = Subject(
    row_max,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    sizes={"rows": [16, 1, 33, 0], "cols": [64, 1, 50, 300]},
    gradients=True,
)
