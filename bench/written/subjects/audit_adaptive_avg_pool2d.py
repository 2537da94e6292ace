"""Means over 5 by 3 regions of each image: region i of k goes from i * size // k to (i + 1) * size / k, rounded up."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

OUT_HEIGHT = 5
OUT_WIDTH = 3
BLOCK = 2


@triton.jit
def pool_kernel(
    x_ptr,
    out_ptr,
    channels,
    height,
    width,
    out_height,
    out_width,
    blocks,
    widest,
    batch_stride,
    channel_stride,
    row_stride,
    col_stride,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    plane = program // blocks
    batch = plane // channels
    channel = plane % channels
    base = x_ptr + batch * batch_stride + channel * channel_stride
    out_col = program % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = out_col < out_width
    left = out_col * width // out_width
    right = ((out_col + 1) * width + out_width - 1) // out_width
    for i in range(out_height):
        total = tl.zeros((BLOCK,), tl.float32)
        out_row = tl.cast(i, tl.int64)
        top = out_row * height // out_height
        bottom = ((out_row + 1) * height + out_height - 1) // out_height
        for j in range(bottom - top):
            row = top + j
            for k in range(widest):
                col = left + k
                value = tl.load(base + row * row_stride + col * col_stride, mask=inside & (col < right), other=0.0)
                total += value.to(tl.float32)
        count = (bottom - top) * (right - left)
        mean = total / count.to(tl.float32)
        out_at = (plane * out_height + out_row) * out_width + out_col
        tl.store(out_ptr + out_at, mean.to(out_ptr.dtype.element_ty), mask=inside)


def adaptive_avg_pool2d(x: torch.Tensor, out_height: int, out_width: int) -> torch.Tensor:
    """x, (batch, channels, height, width), of at least one row and one column: (batch, channels, out_height,
    out_width) in its dtype. Sums are in float32."""
    if x.ndim != 4:
        raise ValueError("x has four dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    batch, channels, height, width = x.shape
    if height < 1 or width < 1 or not 1 <= out_height < 2**15 or not 1 <= out_width < 2**15:
        raise ValueError("images have a row and a column, and results from one to 2^15 - 1 of each")
    out = torch.empty((batch, channels, out_height, out_width), dtype=x.dtype, device=x.device)
    blocks = triton.cdiv(out_width, BLOCK)
    programs = batch * channels * blocks
    if programs >= 2**31:
        raise ValueError("too many images for a grid")
    if programs:
        # A region is at most one column wider than the share of each.
        widest = triton.cdiv(width, out_width) + 1
        pool_kernel[(programs,)](
            x, out, channels, height, width, out_height, out_width, blocks, widest, *x.stride(), BLOCK=BLOCK
        )
    return out


def pool(x: torch.Tensor) -> torch.Tensor:
    return adaptive_avg_pool2d(x, OUT_HEIGHT, OUT_WIDTH)


def reference(x: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = x.shape
    out = torch.zeros((batch, channels, OUT_HEIGHT, OUT_WIDTH), dtype=torch.float64, device=x.device)
    for i in range(OUT_HEIGHT):
        rows = slice(i * height // OUT_HEIGHT, -(-(i + 1) * height // OUT_HEIGHT))
        for j in range(OUT_WIDTH):
            cols = slice(j * width // OUT_WIDTH, -(-(j + 1) * width // OUT_WIDTH))
            out[:, :, i, j] = x[:, :, rows, cols].double().mean((2, 3))
    return out.to(x.dtype)


pooled = Subject(
    pool,
    reference=reference,
    inputs=[Tensor("batch", "channels", "height", "width")],
    name="adaptive_avg_pool2d",
    sizes={"batch": [2, 1, 0], "channels": [3, 1, 2], "height": [10, 1, 4, 7, 20], "width": [12, 1, 2, 5, 16]},
    dtypes=["float32", "float16", "bfloat16"],
)
