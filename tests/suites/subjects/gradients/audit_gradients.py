"""Backward passes that take what they begin with for contiguous, and some that do not."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def square_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * x, mask=offsets < n)


@triton.jit
def square_backward_kernel(x_ptr, grad_ptr, out_ptr, columns, grad_row, grad_column, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    x = tl.load(x_ptr + row * columns + lanes, mask=mask)
    grad = tl.load(grad_ptr + row * grad_row + lanes * grad_column, mask=mask)
    tl.store(out_ptr + row * columns + lanes, 2 * x * grad, mask=mask)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, way):
        x = x.contiguous()
        ctx.save_for_backward(x)
        ctx.way = way
        out = torch.empty_like(x)
        if x.numel():
            square_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        out = grad if ctx.way == "over" and grad.is_contiguous() else torch.empty_like(x)
        rows, columns = x.shape
        strides = {"rows": (grad.stride(0), 1), "none": (columns, 1)}.get(ctx.way, grad.stride())
        if x.numel():
            block = triton.next_power_of_2(columns)
            square_backward_kernel[(rows,)](x, grad, out, columns, *strides, BLOCK=block)
        return out, None


def square(x):
    return Square.apply(x, "all")


def square_over_gradient(x):
    return Square.apply(x, "over")


def square_with_rows(x):
    return Square.apply(x, "rows")


def square_with_none(x):
    return Square.apply(x, "none")


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + lanes, mask=lanes < columns, other=-float("inf"))
    shares = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + lanes, shares / tl.sum(shares, axis=0), mask=lanes < columns)


@triton.jit
def softmax_backward_kernel(y_ptr, grad_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    y = tl.load(y_ptr + row * columns + lanes, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + row * columns + lanes, mask=mask, other=0.0)
    tl.store(out_ptr + row * columns + lanes, y * (grad - tl.sum(y * grad, axis=0)), mask=mask)


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        if x.numel():
            softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        grad, out = grad.contiguous(), torch.empty_like(y)
        if y.numel():
            block = triton.next_power_of_2(y.shape[1])
            softmax_backward_kernel[(y.shape[0],)](y, grad, out, y.shape[1], BLOCK=block)
        return out


def softmax(x):
    return Softmax.apply(x)


X = Tensor("rows", "columns", dtype="float32")
right = Subject(square, torch.square, [X], gradients=True)
over_gradient = Subject(square_over_gradient, torch.square, [X], gradients=True)
with_rows = Subject(square_with_rows, torch.square, [X], gradients=True)
with_none = Subject(square_with_none, torch.square, [X], gradients=True)
cancelling = Subject(softmax, lambda x: x.softmax(-1), [X], gradients=True)
