"""Frames laid over each other by a quarter of their width, each times a window, as the way back from a spectrogram."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def overlap_add_kernel(
    frames_ptr,
    window_ptr,
    out_ptr,
    count,
    width,
    hop,
    length,
    batch_stride,
    frame_stride,
    place_stride,
    window_stride,
    BLOCK: tl.constexpr,
):
    batch = tl.program_id(1).to(tl.int64)
    time = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    last = time // hop
    total = tl.zeros((BLOCK,), tl.float32)
    for back in range(tl.cdiv(width, hop)):
        frame = last - back
        place = time - frame * hop
        mask = (time < length) & (frame >= 0) & (frame < count) & (place < width)
        at = batch * batch_stride + frame * frame_stride + place * place_stride
        value = tl.load(frames_ptr + at, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(window_ptr + place * window_stride, mask=mask, other=0.0).to(tl.float32)
        total += value * weight
    tl.store(out_ptr + batch * length + time, total.to(out_ptr.dtype.element_ty), mask=time < length)


@triton.jit
def frames_gradient_kernel(
    grad_ptr,
    window_ptr,
    frames_grad_ptr,
    count,
    width,
    hop,
    grad_batch_stride,
    grad_time_stride,
    window_stride,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    batch = row // count
    frame = row % count
    for first in range(0, width, BLOCK):
        place = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
        mask = place < width
        time = frame * hop + place
        grad = tl.load(grad_ptr + batch * grad_batch_stride + time * grad_time_stride, mask=mask, other=0.0)
        weight = tl.load(window_ptr + place * window_stride, mask=mask, other=0.0)
        product = grad.to(tl.float32) * weight.to(tl.float32)
        tl.store(frames_grad_ptr + row * width + place, product.to(frames_grad_ptr.dtype.element_ty), mask=mask)


@triton.jit
def window_gradient_kernel(
    grad_ptr,
    frames_ptr,
    sums_ptr,
    rows,
    count,
    width,
    hop,
    grad_batch_stride,
    grad_time_stride,
    batch_stride,
    frame_stride,
    place_stride,
    ROWS_EACH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < width
    start = tl.program_id(1).to(tl.int64) * ROWS_EACH
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(start, tl.minimum(start + ROWS_EACH, rows)):
        batch = row // count
        frame = row % count
        grad_at = batch * grad_batch_stride + (frame * hop + place) * grad_time_stride
        grad = tl.load(grad_ptr + grad_at, mask=mask, other=0.0).to(tl.float32)
        at = batch * batch_stride + frame * frame_stride + place * place_stride
        total += grad * tl.load(frames_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(sums_ptr + place, total, mask=mask)


class OverlapAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, frames, window):
        batch, count, width = frames.shape
        hop = triton.cdiv(width, 4)
        length = (count - 1) * hop + width
        out = torch.empty((batch, length), dtype=frames.dtype, device=frames.device)
        if batch:
            overlap_add_kernel[(triton.cdiv(length, 256), batch)](
                frames,
                window,
                out,
                count,
                width,
                hop,
                length,
                *frames.stride(),
                window.stride(0),
                BLOCK=256,
            )
        ctx.save_for_backward(frames, window)
        ctx.hop = hop
        return out

    @staticmethod
    def backward(ctx, grad):
        frames, window = ctx.saved_tensors
        batch, count, width = frames.shape
        frames_grad = torch.empty((batch, count, width), dtype=frames.dtype, device=frames.device)
        sums = torch.zeros(width, dtype=torch.float32, device=frames.device)
        if batch:
            frames_gradient_kernel[(batch * count,)](
                grad, window, frames_grad, count, width, ctx.hop, *grad.stride(), window.stride(0), BLOCK=128
            )
            window_gradient_kernel[(triton.cdiv(width, 128), triton.cdiv(batch * count, 64))](
                grad,
                frames,
                sums,
                batch * count,
                count,
                width,
                ctx.hop,
                *grad.stride(),
                *frames.stride(),
                ROWS_EACH=64,
                BLOCK=128,
            )
        return frames_grad, sums.to(window.dtype)


def overlap_add(frames: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    """frames, (batch, count, width), window, (width), of one dtype: the signals, (batch, (count - 1) * hop + width),
    to which frame f adds frames[f] * window from f * hop on; hop is a quarter of the width, rounded up. Sums are
    float32, rounded once."""
    if frames.ndim != 3 or frames.shape[1] < 1 or frames.shape[2] < 1 or window.shape != frames.shape[2:]:
        raise ValueError("frames is (batch, count, width), with 1 frame and 1 place or more, and window is (width)")
    if frames.dtype not in (torch.float32, torch.float16, torch.bfloat16) or window.dtype != frames.dtype:
        raise ValueError("both are float32, both float16 or both bfloat16")
    if frames.device != window.device or frames.shape[0] > 65535 or frames.shape[0] * frames.shape[1] > 2**21:
        raise ValueError("both lie on one device, with at most 65,535 signals and 2^21 frames")
    return OverlapAdd.apply(frames, window)


def reference(frames: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    batch, count, width = frames.shape
    hop = (width + 3) // 4
    out = torch.zeros((batch, (count - 1) * hop + width), dtype=torch.float32, device=frames.device)
    product = frames.to(torch.float32) * window.to(torch.float32)
    first = torch.arange(count, device=frames.device)[:, None] * hop
    time = (first + torch.arange(width, device=frames.device)).reshape(-1)
    return out.index_add(1, time, product.reshape(batch, count * width)).to(frames.dtype)


laid = Subject(
    overlap_add,
    reference=reference,
    inputs=[Tensor("batch", "count", "width"), Tensor("width")],
    gradients=True,
    name="overlap_add",
    sizes={"batch": [8, 1, 3, 0], "count": [16, 1, 5, 30], "width": [64, 1, 5, 150]},
)
