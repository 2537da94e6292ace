"""The largest of each 3 by 2 window of an image, with steps of 2 down and 1 across and a border of 1 that never wins.

Keeps where it was found, for a backward pass that each pixel does for itself: it asks the windows that cover it."""

from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

KERNEL_H, KERNEL_W, STEP_H, STEP_W, BORDER = 3, 2, 2, 1, 1
BLOCK = 128


@triton.jit
def max_pool2d_kernel(
    x_ptr,
    out_ptr,
    places_ptr,
    n,
    channels,
    height,
    width,
    out_height,
    out_width,
    x_batch_stride,
    x_channel_stride,
    x_row_stride,
    x_col_stride,
    KERNEL_H: tl.constexpr,
    KERNEL_W: tl.constexpr,
    STEP_H: tl.constexpr,
    STEP_W: tl.constexpr,
    BORDER: tl.constexpr,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = at < n
    out_col = at % out_width
    out_row = at // out_width % out_height
    plane = at // out_width // out_height
    x_ptrs = x_ptr + plane // channels * x_batch_stride + plane % channels * x_channel_stride
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    place = tl.full((BLOCK,), -1, tl.int64)
    for i in tl.static_range(KERNEL_H):
        row = out_row * STEP_H + i - BORDER
        for j in tl.static_range(KERNEL_W):
            col = out_col * STEP_W + j - BORDER
            mask = there & (row >= 0) & (row < height) & (col >= 0) & (col < width)
            x = tl.load(x_ptrs + row * x_row_stride + col * x_col_stride, mask=mask, other=float("-inf"))
            x = x.to(tl.float32)
            better = mask & ((x > best) | (x != x) | (place < 0))
            best = tl.where(better, x, best)
            place = tl.where(better, row * width + col, place)
    tl.store(out_ptr + at, best.to(out_ptr.dtype.element_ty), mask=there)
    tl.store(places_ptr + at, place, mask=there)


@triton.jit
def max_pool2d_backward_kernel(
    grad_ptr,
    places_ptr,
    x_grad_ptr,
    n,
    channels,
    height,
    width,
    out_height,
    out_width,
    grad_batch_stride,
    grad_channel_stride,
    grad_row_stride,
    grad_col_stride,
    KERNEL_H: tl.constexpr,
    KERNEL_W: tl.constexpr,
    STEP_H: tl.constexpr,
    STEP_W: tl.constexpr,
    BORDER: tl.constexpr,
    BLOCK: tl.constexpr,
):
    pixel = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = pixel < n
    col = pixel % width
    row = pixel // width % height
    plane = pixel // width // height
    grad_ptrs = grad_ptr + plane // channels * grad_batch_stride + plane % channels * grad_channel_stride
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(KERNEL_H):
        down = row + BORDER - i
        out_row = down // STEP_H
        row_mask = (down >= 0) & (down % STEP_H == 0) & (out_row < out_height)
        for j in tl.static_range(KERNEL_W):
            across = col + BORDER - j
            out_col = across // STEP_W
            mask = there & row_mask & (across >= 0) & (across % STEP_W == 0) & (out_col < out_width)
            window = (plane * out_height + out_row) * out_width + out_col
            place = tl.load(places_ptr + window, mask=mask, other=-1)
            grad = tl.load(grad_ptrs + out_row * grad_row_stride + out_col * grad_col_stride, mask=mask, other=0.0)
            total += tl.where(place == row * width + col, grad.to(tl.float32), 0.0)
    tl.store(x_grad_ptr + pixel, total.to(x_grad_ptr.dtype.element_ty), mask=there)


class MaxPool2d(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        batch, channels, height, width = x.shape
        out_height = (height + 2 * BORDER - KERNEL_H) // STEP_H + 1
        out_width = (width + 2 * BORDER - KERNEL_W) // STEP_W + 1
        out = torch.empty((batch, channels, out_height, out_width), dtype=x.dtype, device=x.device)
        places = torch.empty(out.shape, dtype=torch.int64, device=x.device)
        n = out.numel()
        if n > 0:
            max_pool2d_kernel[(triton.cdiv(n, BLOCK),)](
                x,
                out,
                places,
                n,
                channels,
                height,
                width,
                out_height,
                out_width,
                *x.stride(),
                KERNEL_H=KERNEL_H,
                KERNEL_W=KERNEL_W,
                STEP_H=STEP_H,
                STEP_W=STEP_W,
                BORDER=BORDER,
                BLOCK=BLOCK,
            )
        ctx.save_for_backward(places)
        ctx.shape = x.shape
        ctx.mark_non_differentiable(places)
        return out, places

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        (places,) = ctx.saved_tensors
        grad = grads[0]
        x_grad = torch.empty(ctx.shape, dtype=grad.dtype, device=grad.device)
        n = x_grad.numel()
        if n > 0:
            max_pool2d_backward_kernel[(triton.cdiv(n, BLOCK),)](
                grad,
                places,
                x_grad,
                n,
                ctx.shape[1],
                ctx.shape[2],
                ctx.shape[3],
                places.shape[2],
                places.shape[3],
                *grad.stride(),
                KERNEL_H=KERNEL_H,
                KERNEL_W=KERNEL_W,
                STEP_H=STEP_H,
                STEP_W=STEP_W,
                BORDER=BORDER,
                BLOCK=BLOCK,
            )
        return x_grad


def max_pool2d(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (batch, channels, height, width), none of the last two 0: what is largest, and its pixel within the plane."""
    if x.ndim != 4 or x.shape[2] < 1 or x.shape[3] < 1:
        raise ValueError("wants (batch, channels, height, width) with pixels")
    return MaxPool2d.apply(x)


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    batch, channels, height, width = x.shape
    if x.numel() == 0:
        shape = (batch, channels, (height - 1) // 2 + 1, width + 1)
        return x.sum() + x.new_zeros(shape), torch.zeros(shape, dtype=torch.int64, device=x.device)
    return F.max_pool2d(x, (KERNEL_H, KERNEL_W), (STEP_H, STEP_W), BORDER, return_indices=True)


pooling = Subject(
    max_pool2d,
    reference=reference,
    inputs=[Tensor("batch", "channels", "height", "width")],
    name="max_pool2d",
    sizes={
        "batch": [2, 1, 3, 0],
        "channels": [4, 1, 5],
        "height": [16, 1, 2, 33],
        "width": [16, 1, 3, 31],
    },
    gradients=True,
)
