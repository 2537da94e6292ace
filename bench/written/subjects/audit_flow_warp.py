"""Images sampled at points between pixels (bilinear, 0 outside), and the gradients of images and points."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_POINTS = 64
BLOCK_CHANNELS = 8


@triton.jit
def corner(x, y, dx: tl.constexpr, dy: tl.constexpr, height, width):
    """Where one of the four pixels around (x, y) lies, how far along each axis the point is to it, whether it is."""
    left = tl.floor(x)
    top = tl.floor(y)
    near_x = x - left if dx else 1.0 - (x - left)
    near_y = y - top if dy else 1.0 - (y - top)
    col = left + dx
    row = top + dy
    # Compared as floats: what is far outside, or NaN, has no place as an integer.
    inside = (col >= 0) & (col < width) & (row >= 0) & (row < height)
    return tl.where(inside, row, 0.0).to(tl.int64), tl.where(inside, col, 0.0).to(tl.int64), near_y, near_x, inside


@triton.jit
def warp_kernel(
    image_ptr,
    at_ptr,
    out_ptr,
    channels,
    height,
    width,
    points,
    image_batch_stride,
    image_channel_stride,
    image_row_stride,
    image_col_stride,
    at_batch_stride,
    at_point_stride,
    at_axis_stride,
    BLOCK_POINTS: tl.constexpr,
    BLOCK_CHANNELS: tl.constexpr,
):
    batch = tl.program_id(2).to(tl.int64)
    point = tl.program_id(0).to(tl.int64) * BLOCK_POINTS + tl.arange(0, BLOCK_POINTS)
    channel = tl.program_id(1).to(tl.int64) * BLOCK_CHANNELS + tl.arange(0, BLOCK_CHANNELS)
    point_mask = point < points
    mask = (channel < channels)[:, None] & point_mask[None, :]
    at = at_ptr + batch * at_batch_stride + point * at_point_stride
    x = tl.load(at, mask=point_mask, other=0.0)
    y = tl.load(at + at_axis_stride, mask=point_mask, other=0.0)
    image_at = image_ptr + batch * image_batch_stride + channel[:, None] * image_channel_stride
    out = tl.zeros((BLOCK_CHANNELS, BLOCK_POINTS), tl.float32)
    for dy in tl.static_range(2):
        for dx in tl.static_range(2):
            row, col, near_y, near_x, inside = corner(x, y, dx, dy, height, width)
            offset = row * image_row_stride + col * image_col_stride
            pixel = tl.load(image_at + offset[None, :], mask=mask & inside[None, :], other=0.0).to(tl.float32)
            out += tl.where(inside[None, :], pixel * (near_y * near_x)[None, :], 0.0)
    out_at = (batch * channels + channel[:, None]) * points + point[None, :]
    tl.store(out_ptr + out_at, out, mask=mask)


@triton.jit
def warp_backward_kernel(
    image_ptr,
    at_ptr,
    dout_ptr,
    dimage_ptr,
    dat_ptr,
    channels,
    height,
    width,
    points,
    image_batch_stride,
    image_channel_stride,
    image_row_stride,
    image_col_stride,
    at_batch_stride,
    at_point_stride,
    at_axis_stride,
    dout_batch_stride,
    dout_channel_stride,
    dout_point_stride,
    BLOCK_POINTS: tl.constexpr,
    BLOCK_CHANNELS: tl.constexpr,
):
    batch = tl.program_id(1).to(tl.int64)
    point = tl.program_id(0).to(tl.int64) * BLOCK_POINTS + tl.arange(0, BLOCK_POINTS)
    point_mask = point < points
    at = at_ptr + batch * at_batch_stride + point * at_point_stride
    x = tl.load(at, mask=point_mask, other=0.0)
    y = tl.load(at + at_axis_stride, mask=point_mask, other=0.0)
    dx_sum = tl.zeros((BLOCK_POINTS,), tl.float32)
    dy_sum = tl.zeros((BLOCK_POINTS,), tl.float32)
    for start in range(0, channels, BLOCK_CHANNELS):
        channel = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_CHANNELS)
        mask = (channel < channels)[:, None] & point_mask[None, :]
        dout_at = channel[:, None] * dout_channel_stride + point[None, :] * dout_point_stride
        dout = tl.load(dout_ptr + batch * dout_batch_stride + dout_at, mask=mask, other=0.0).to(tl.float32)
        for dy in tl.static_range(2):
            for dx in tl.static_range(2):
                row, col, near_y, near_x, inside = corner(x, y, dx, dy, height, width)
                here = mask & inside[None, :]
                offset = row * image_row_stride + col * image_col_stride
                image_at = batch * image_batch_stride + channel[:, None] * image_channel_stride + offset[None, :]
                pixel = tl.load(image_ptr + image_at, mask=here, other=0.0).to(tl.float32)
                product = tl.sum(tl.where(here, pixel * dout, 0.0), axis=0)
                dx_sum += tl.where(inside, product * near_y * (2 * dx - 1), 0.0)
                dy_sum += tl.where(inside, product * near_x * (2 * dy - 1), 0.0)
                dimage_at = (batch * channels + channel[:, None]) * height * width + (row * width + col)[None, :]
                tl.atomic_add(dimage_ptr + dimage_at, dout * (near_y * near_x)[None, :], mask=here, sem="relaxed")
    dat_at = (batch * points + point) * 2
    tl.store(dat_ptr + dat_at, dx_sum, mask=point_mask)
    tl.store(dat_ptr + dat_at + 1, dy_sum, mask=point_mask)


class FlowWarp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, image: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = image.shape
        points = at.shape[1]
        out = torch.empty((batch, channels, points), dtype=image.dtype, device=image.device)
        if out.numel():
            warp_kernel[(triton.cdiv(points, BLOCK_POINTS), triton.cdiv(channels, BLOCK_CHANNELS), batch)](
                image,
                at,
                out,
                channels,
                height,
                width,
                points,
                *image.stride(),
                *at.stride(),
                BLOCK_POINTS=BLOCK_POINTS,
                BLOCK_CHANNELS=BLOCK_CHANNELS,
            )
        ctx.save_for_backward(image, at)
        return out

    @staticmethod
    def backward(ctx, dout: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        image, at = ctx.saved_tensors
        batch, channels, height, width = image.shape
        points = at.shape[1]
        dimage = torch.zeros((batch, channels, height, width), dtype=torch.float32, device=image.device)
        dat = torch.empty((batch, points, 2), dtype=at.dtype, device=at.device)
        if dat.numel():
            warp_backward_kernel[(triton.cdiv(points, BLOCK_POINTS), batch)](
                image,
                at,
                dout,
                dimage,
                dat,
                channels,
                height,
                width,
                points,
                *image.stride(),
                *at.stride(),
                *dout.stride(),
                BLOCK_POINTS=BLOCK_POINTS,
                BLOCK_CHANNELS=BLOCK_CHANNELS,
            )
        return dimage.to(image.dtype), dat


def flow_warp(image: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """image, (batch, channels, height, width), and at, (batch, points, 2), float32, x and then y of each point, in
    pixels: (batch, channels, points). A point that is NaN or infinite is outside."""
    if image.ndim != 4 or at.ndim != 3 or at.shape[0] != image.shape[0] or at.shape[2] != 2:
        raise ValueError("image is (batch, channels, height, width), and at is (batch, points, 2)")
    if image.dtype not in (torch.float32, torch.float16, torch.bfloat16) or at.dtype != torch.float32:
        raise ValueError("image is float32, float16 or bfloat16, and at is float32")
    if image.device != at.device:
        raise ValueError("both lie on one device")
    if image.shape[1] > 65535 * BLOCK_CHANNELS or image.shape[0] > 65535 or max(image.shape[2:]) > 2**24:
        raise ValueError("too large")
    return FlowWarp.apply(image, at)


def reference(image: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = image.shape
    wide = torch.promote_types(image.dtype, torch.float32)
    # An empty image has a pixel too many for the gather below, and no pixel is inside it.
    flat = torch.nn.functional.pad(image.to(wide).flatten(2), (0, 1))
    x, y = at.to(wide).unbind(2)
    left, top = x.detach().floor(), y.detach().floor()
    out = torch.zeros((batch, channels, at.shape[1]), dtype=wide, device=image.device)
    for dy in (0, 1):
        for dx in (0, 1):
            col, row = left + dx, top + dy
            inside = (col >= 0) & (col < width) & (row >= 0) & (row < height)
            place = torch.where(inside, row * width + col, height * width).long()
            weight_x = torch.where(inside, x - left, 0.0) if dx else torch.where(inside, 1 - (x - left), 0.0)
            weight_y = torch.where(inside, y - top, 0.0) if dy else torch.where(inside, 1 - (y - top), 0.0)
            pixel = flat.gather(2, place[:, None].expand(-1, channels, -1))
            out = out + pixel * (weight_x * weight_y)[:, None]
    return out.to(image.dtype)


warp = Subject(
    flow_warp,
    reference=reference,
    inputs=[Tensor("batch", "channels", "height", "width"), Tensor("batch", "points", 2, dtype="float32")],
    name="flow_warp",
    sizes={"batch": [2, 1, 0], "channels": [8, 1, 11], "height": [16, 1, 5], "width": [16, 3], "points": [64, 1, 150]},
    gradients=True,
)
