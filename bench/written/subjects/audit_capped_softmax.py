"""Softmax of rows of unequal length whose logits are capped softly, 30 * tanh(x / 30), and its backward pass."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

CAP = 30.0
BLOCK = 256


@triton.jit
def capped_exp(x, CAP: tl.constexpr):
    # Between exp(-30) and exp(30), so that no maximum needs to be taken off.
    return tl.exp(CAP * (2.0 * tl.sigmoid(x * (2.0 / CAP)) - 1.0))


@triton.jit
def softmax_kernel(
    x_ptr,
    lengths_ptr,
    y_ptr,
    total_ptr,
    cols,
    x_row_stride,
    x_col_stride,
    length_stride,
    CAP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    length = tl.minimum(tl.load(lengths_ptr + row * length_stride).to(tl.int64), cols)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=col < length, other=0.0).to(tl.float32)
        sums += tl.where(col < length, capped_exp(x, CAP), 0.0)
    total = tl.sum(sums, axis=0)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=col < length, other=0.0).to(tl.float32)
        y = tl.where(col < length, capped_exp(x, CAP) / total, 0.0)
        tl.store(y_ptr + row * cols + col, y, mask=col < cols)
    tl.store(total_ptr + row, total)


@triton.jit
def softmax_backward_kernel(
    x_ptr,
    lengths_ptr,
    total_ptr,
    dy_ptr,
    dx_ptr,
    cols,
    x_row_stride,
    x_col_stride,
    length_stride,
    dy_row_stride,
    dy_col_stride,
    CAP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    length = tl.minimum(tl.load(lengths_ptr + row * length_stride).to(tl.int64), cols)
    total = tl.load(total_ptr + row)
    products = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = col < length
        x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_row_stride + col * dy_col_stride, mask=mask, other=0.0).to(tl.float32)
        products += tl.where(mask, dy * (capped_exp(x, CAP) / total), 0.0)
    product = tl.sum(products, axis=0)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = col < length
        x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_row_stride + col * dy_col_stride, mask=mask, other=0.0).to(tl.float32)
        # 1 - tanh^2, without what is lost in that difference where the tanh is close to 1.
        slope = 4.0 * tl.sigmoid(x * (2.0 / CAP)) * tl.sigmoid(x * (-2.0 / CAP))
        dx = capped_exp(x, CAP) / total * (dy - product) * slope
        tl.store(dx_ptr + row * cols + col, tl.where(mask, dx, 0.0), mask=col < cols)


class CappedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        rows, cols = x.shape
        y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        total = torch.empty(rows, dtype=torch.float32, device=x.device)
        if y.numel():
            softmax_kernel[(rows,)](x, lengths, y, total, cols, *x.stride(), lengths.stride(0), CAP=CAP, BLOCK=BLOCK)
        ctx.save_for_backward(x, lengths, total)
        return y

    @staticmethod
    def backward(ctx, dy: torch.Tensor) -> tuple[torch.Tensor, None]:
        x, lengths, total = ctx.saved_tensors
        rows, cols = x.shape
        dx = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        if dx.numel():
            softmax_backward_kernel[(rows,)](
                x,
                lengths,
                total,
                dy,
                dx,
                cols,
                *x.stride(),
                lengths.stride(0),
                *dy.stride(),
                CAP=CAP,
                BLOCK=BLOCK,
            )
        return dx, None


def capped_softmax(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """x, (rows, cols), and lengths, (rows), int32 or int64: the softmax of the first elements of each row, 0 behind
    them. A length below 0 counts as 0, and one beyond cols as cols."""
    if x.ndim != 2 or lengths.shape != x.shape[:1]:
        raise ValueError("x is (rows, cols), and lengths is (rows)")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    if lengths.dtype not in (torch.int32, torch.int64) or lengths.device != x.device:
        raise ValueError("lengths is int32 or int64, and on the device of x")
    return CappedSoftmax.apply(x, lengths)


def reference(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    valid = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    logits = CAP * torch.tanh(wide.masked_fill(~valid, 0.0) / CAP)
    # Rows without a valid element get a softmax over zeros, which the last line replaces.
    logits = logits.masked_fill(~valid, float("-inf")).masked_fill(~valid.any(dim=1, keepdim=True), 0.0)
    return torch.softmax(logits, dim=1).masked_fill(~valid, 0.0).to(x.dtype)


capped = Subject(
    capped_softmax,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", dtype="int64", low=-1, high="2 * cols")],
    name="capped_softmax",
    sizes={"rows": [16, 1, 5, 0], "cols": [256, 1, 100, 700]},
    gradients=True,
)
