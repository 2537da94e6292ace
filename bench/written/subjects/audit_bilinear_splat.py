"""Points between pixels, added to a canvas: each gives its values to the four pixels around it, by nearness."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def add_corner(canvas_ptr, y, x, part, value, mask, height, width, y_stride, x_stride, channel_at):
    here = mask & ((y >= 0) & (y < height) & (x >= 0) & (x < width))[:, None]
    at = y[:, None] * y_stride + x[:, None] * x_stride + channel_at[None, :]
    tl.atomic_add(canvas_ptr + at, part[:, None] * value, mask=here)


@triton.jit
def splat_kernel(
    canvas_ptr,
    points_ptr,
    values_ptr,
    points,
    height,
    width,
    channels,
    canvas_y_stride,
    canvas_x_stride,
    canvas_channel_stride,
    point_stride,
    axis_stride,
    value_point_stride,
    value_channel_stride,
    BLOCK: tl.constexpr,
    BLOCK_CHANNELS: tl.constexpr,
):
    point = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    channel = tl.program_id(1).to(tl.int64) * BLOCK_CHANNELS + tl.arange(0, BLOCK_CHANNELS)
    known = point < points
    x = tl.load(points_ptr + point * point_stride, mask=known, other=0.0)
    y = tl.load(points_ptr + point * point_stride + axis_stride, mask=known, other=0.0)
    x = (x + 1.0) * 0.5 * (width - 1)
    y = (y + 1.0) * 0.5 * (height - 1)
    # What is not a number is not inside either.
    inside = known & (x > -1.0) & (x < width) & (y > -1.0) & (y < height)
    x = tl.where(inside, x, 0.0)
    y = tl.where(inside, y, 0.0)
    left = tl.floor(x)
    top = tl.floor(y)
    right_part = x - left
    low_part = y - top
    column = left.to(tl.int64)
    line = top.to(tl.int64)
    mask = inside[:, None] & (channel < channels)[None, :]
    value_at = point[:, None] * value_point_stride + channel[None, :] * value_channel_stride
    value = tl.load(values_ptr + value_at, mask=mask, other=0.0).to(tl.float32)
    channel_at = channel * canvas_channel_stride
    for down in tl.static_range(2):
        for across in tl.static_range(2):
            part = (low_part if down == 1 else 1.0 - low_part) * (right_part if across == 1 else 1.0 - right_part)
            add_corner(
                canvas_ptr,
                line + down,
                column + across,
                part,
                value,
                mask,
                height,
                width,
                canvas_y_stride,
                canvas_x_stride,
                channel_at,
            )


def splat(canvas: torch.Tensor, points: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """canvas, (height, width, channels), float32, is added to, and given back; points, (n, 2), float32, x and y, where
    -1 is the middle of the first pixel and 1 that of the last; values, (n, channels).

    What falls beside the canvas is left out, and so is a point with a coordinate that is NaN or infinite. Several
    points that meet are added up in any order, in float32."""
    if canvas.ndim != 3 or points.ndim != 2 or points.shape[1] != 2 or canvas.dtype != torch.float32:
        raise ValueError("canvas is (height, width, channels), float32, and points is (n, 2)")
    if values.shape != (points.shape[0], canvas.shape[2]) or points.dtype != torch.float32:
        raise ValueError("values is (n, channels), and points is float32")
    if values.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("values is float32, float16 or bfloat16")
    if canvas.device != points.device or canvas.device != values.device or max(canvas.shape) >= 2**20:
        raise ValueError("all lie on one device, and the canvas has fewer than 2^20 in each direction")
    if points.shape[0] >= 2**31 or any(s == 0 and n > 1 for s, n in zip(canvas.stride(), canvas.shape, strict=True)):
        raise ValueError("there are fewer than 2^31 points, and no two pixels of the canvas are one")
    if canvas.numel() and points.shape[0]:
        height, width, channels = canvas.shape
        splat_kernel[(triton.cdiv(points.shape[0], 64), triton.cdiv(channels, 16))](
            canvas,
            points,
            values,
            points.shape[0],
            height,
            width,
            channels,
            *canvas.stride(),
            *points.stride(),
            *values.stride(),
            BLOCK=64,
            BLOCK_CHANNELS=16,
        )
    return canvas


def reference(canvas: torch.Tensor, points: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    height, width, channels = canvas.shape
    if not canvas.numel():
        return canvas
    x, y = ((points + 1.0) * 0.5 * torch.tensor([width - 1.0, height - 1.0], device=points.device)).unbind(1)
    inside = (x > -1) & (x < width) & (y > -1) & (y < height)
    x, y, values = x[inside], y[inside], values[inside].to(torch.float32)
    sums = torch.zeros((height * width, channels), dtype=torch.float32, device=canvas.device)
    for down in (0, 1):
        for across in (0, 1):
            line, column = y.floor().long() + down, x.floor().long() + across
            y_part, x_part = y - y.floor(), x - x.floor()
            part = (y_part if down else 1.0 - y_part) * (x_part if across else 1.0 - x_part)
            here = (line >= 0) & (line < height) & (column >= 0) & (column < width)
            sums.index_add_(0, (line * width + column)[here], (part[:, None] * values)[here])
    return canvas.add_(sums.view(height, width, channels))


splatted = Subject(
    splat,
    reference=reference,
    inputs=[
        Tensor("height", "width", "channels", dtype="float32"),
        Tensor("n", 2, dtype="float32"),
        Tensor("n", "channels"),
    ],
    mutates=["canvas"],
    name="bilinear_splat",
    sizes={"height": [16, 1, 5, 23], "width": [16, 1, 7, 12], "channels": [16, 1, 3, 40], "n": [64, 1, 100, 0]},
)
