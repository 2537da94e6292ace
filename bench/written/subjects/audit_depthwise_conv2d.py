"""A 3 by 5 convolution of each channel by itself, with a stride of 2 down and 1 across, a bias, and SiLU."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_H, BLOCK_W = 8, 32


@triton.jit
def depthwise_conv2d_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    channels,
    height,
    width,
    out_height,
    out_width,
    x_batch_stride,
    x_channel_stride,
    x_row_stride,
    x_col_stride,
    weight_channel_stride,
    weight_row_stride,
    weight_col_stride,
    out_batch_stride,
    out_channel_stride,
    out_row_stride,
    KERNEL_H: tl.constexpr,
    KERNEL_W: tl.constexpr,
    STEP: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_W: tl.constexpr,
):
    w_tiles = tl.cdiv(out_width, BLOCK_W)
    h_tiles = tl.cdiv(out_height, BLOCK_H)
    w_tile = tl.program_id(0) % w_tiles
    h_tile = tl.program_id(0) // w_tiles % h_tiles
    plane = (tl.program_id(0) // w_tiles // h_tiles).to(tl.int64)
    batch = plane // channels
    channel = plane % channels
    out_rows = (h_tile * BLOCK_H + tl.arange(0, BLOCK_H)).to(tl.int64)
    out_cols = (w_tile * BLOCK_W + tl.arange(0, BLOCK_W)).to(tl.int64)

    x_base = x_ptr + batch * x_batch_stride + channel * x_channel_stride
    weight_base = weight_ptr + channel * weight_channel_stride
    weight_row = tl.cast(weight_row_stride, tl.int64)
    weight_col = tl.cast(weight_col_stride, tl.int64)
    acc = tl.zeros((BLOCK_H, BLOCK_W), tl.float32)
    for i in tl.static_range(KERNEL_H):
        rows = out_rows * STEP + i - KERNEL_H // 2
        row_mask = (rows >= 0) & (rows < height)
        for j in tl.static_range(KERNEL_W):
            cols = out_cols + j - KERNEL_W // 2
            col_mask = (cols >= 0) & (cols < width)
            x = tl.load(
                x_base + rows[:, None] * x_row_stride + cols[None, :] * x_col_stride,
                mask=row_mask[:, None] & col_mask[None, :],
                other=0.0,
            )
            weight = tl.load(weight_base + i * weight_row + j * weight_col)
            acc += x.to(tl.float32) * weight.to(tl.float32)
    acc += tl.load(bias_ptr + channel).to(tl.float32)
    out = acc * tl.sigmoid(acc)
    tl.store(
        out_ptr
        + batch * out_batch_stride
        + channel * out_channel_stride
        + out_rows[:, None] * out_row_stride
        + out_cols[None, :],
        out.to(out_ptr.dtype.element_ty),
        mask=(out_rows < out_height)[:, None] & (out_cols < out_width)[None, :],
    )


def depthwise_conv2d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """x, (batch, channels, height, width), weight, (channels, 3, 5), and bias, (channels); outside is 0."""
    batch, channels, height, width = x.shape
    out_height = (height + 1) // 2
    bias = bias.contiguous()
    out = torch.empty((batch, channels, out_height, width), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    tiles = triton.cdiv(out_height, BLOCK_H) * triton.cdiv(width, BLOCK_W)
    depthwise_conv2d_kernel[(batch * channels * tiles,)](
        x,
        weight,
        bias,
        out,
        channels,
        height,
        width,
        out_height,
        width,
        x.stride(0),
        x.stride(1),
        x.stride(2),
        x.stride(3),
        weight.stride(0),
        weight.stride(1),
        weight.stride(2),
        out.stride(0),
        out.stride(1),
        out.stride(2),
        KERNEL_H=3,
        KERNEL_W=5,
        STEP=2,
        BLOCK_H=BLOCK_H,
        BLOCK_W=BLOCK_W,
    )
    return out


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    if x.numel() == 0:
        return x.new_zeros((x.shape[0], x.shape[1], (x.shape[2] + 1) // 2, x.shape[3]))
    return F.silu(F.conv2d(x, weight[:, None], bias, stride=(2, 1), padding=(1, 2), groups=x.shape[1]))


convolution = Subject(
    depthwise_conv2d,
    reference=reference,
    inputs=[Tensor("batch", "channels", "height", "width"), Tensor("channels", 3, 5), Tensor("channels")],
    name="depthwise_conv2d",
    sizes={
        "batch": [2, 1, 3, 0],
        "channels": [4, 1, 5],
        "height": [16, 1, 2, 33, 50, 0],
        "width": [32, 1, 3, 31, 33, 100, 0],
    },
)
