"""Sparsemax: the point of the simplex that is nearest to a row, by sorting; many of its elements are exactly 0."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def sparsemax_kernel(x_ptr, out_ptr, edge_ptr, cols, x_row_stride, x_col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    x = tl.load(x_ptr + row * x_row_stride + col.to(tl.int64) * x_col_stride, mask=mask, other=float("-inf"))
    x = x.to(tl.float32)
    unknown = tl.sum((x != x).to(tl.int32), axis=0)
    largest = tl.max(tl.where(x == x, x, float("-inf")), axis=0)
    refused = (unknown > 0) | (largest == float("inf")) | (largest == float("-inf"))
    x = tl.where(mask & (refused == 0), x - tl.where(refused, 0.0, largest), float("-inf"))
    falling = tl.sort(x, descending=True)
    upto = tl.cumsum(falling, axis=0)
    inside = (1.0 + (col + 1) * falling > upto) & mask
    count = tl.maximum(tl.sum(inside.to(tl.int32), axis=0), 1)
    mass = tl.sum(tl.where(col < count, falling, 0.0), axis=0)
    edge = tl.where(refused, float("nan"), (mass - 1.0) / count)
    out = tl.where(refused, float("nan"), tl.maximum(x - edge, 0.0))
    tl.store(out_ptr + row * cols + col, out.to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(edge_ptr + row, edge)


@triton.jit
def sparsemax_gradient_kernel(
    x_ptr,
    edge_ptr,
    grad_ptr,
    x_grad_ptr,
    cols,
    x_row_stride,
    x_col_stride,
    grad_row_stride,
    grad_col_stride,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    at = col.to(tl.int64)
    x = tl.load(x_ptr + row * x_row_stride + at * x_col_stride, mask=mask, other=float("-inf")).to(tl.float32)
    grad = tl.load(grad_ptr + row * grad_row_stride + at * grad_col_stride, mask=mask, other=0.0).to(tl.float32)
    edge = tl.load(edge_ptr + row).to(tl.float32)
    largest = tl.max(x, axis=0)
    # No element of a row that was refused is above an edge that is NaN.
    support = (x - largest > edge) & mask
    count = tl.maximum(tl.sum(support.to(tl.int32), axis=0), 1)
    mean = tl.sum(tl.where(support, grad, 0.0), axis=0) / count
    x_grad = tl.where(support, grad - mean, 0.0)
    tl.store(x_grad_ptr + row * cols + col, x_grad.to(x_grad_ptr.dtype.element_ty), mask=mask)


class Sparsemax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rows, cols = x.shape
        out = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        edge = torch.empty(rows, dtype=torch.float32, device=x.device)
        if rows:
            block = triton.next_power_of_2(cols)
            sparsemax_kernel[(rows,)](x, out, edge, cols, *x.stride(), BLOCK=block)
        ctx.save_for_backward(x, edge)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, edge = ctx.saved_tensors
        rows, cols = x.shape
        x_grad = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        if rows:
            sparsemax_gradient_kernel[(rows,)](
                x, edge, grad, x_grad, cols, *x.stride(), *grad.stride(), BLOCK=triton.next_power_of_2(cols)
            )
        return x_grad


def sparsemax(x: torch.Tensor) -> torch.Tensor:
    """x, (rows, cols), with 1 to 1,024 columns: the sparsemax of each row, in x's dtype, computed in float32.

    A row that has a NaN, or whose largest element is infinite, gives NaN, and its gradient is 0."""
    if x.ndim != 2 or not 1 <= x.shape[1] <= 1024 or x.shape[0] >= 2**31:
        raise ValueError("x is (rows, cols), with 1 to 1,024 columns, and fewer than 2^31 rows")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    return Sparsemax.apply(x)


def reference(x: torch.Tensor) -> torch.Tensor:
    wide = x.to(torch.float32)
    largest = wide.detach().amax(dim=1, keepdim=True)
    fine = torch.isfinite(largest)
    wide = torch.where(fine, wide - largest, 0.0)
    falling = wide.sort(dim=1, descending=True).values
    number = torch.arange(1, x.shape[1] + 1, device=x.device)
    count = (1.0 + number * falling > falling.cumsum(dim=1)).sum(dim=1, keepdim=True)
    mass = torch.where(number <= count, falling, 0.0).sum(dim=1, keepdim=True)
    out = torch.relu(wide - (mass - 1.0) / count)
    return torch.where(fine, out, float("nan")).to(x.dtype)


sparse = Subject(
    sparsemax,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    gradients=True,
    name="sparsemax",
    sizes={"rows": [8, 1, 5, 0], "cols": [64, 1, 37, 300]},
)
