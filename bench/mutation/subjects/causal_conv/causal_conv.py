"""Causal depthwise convolution: each channel has its own filter, which looks back."""

import torch
import triton
import triton.language as tl


@triton.jit
def causal_conv_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    channels,
    length,
    x_stride_b,
    x_stride_c,
    x_stride_l,
    weight_stride_c,
    weight_stride_w,
    out_stride_b,
    out_stride_c,
    WIDTH: tl.constexpr,
    BLOCK_L: tl.constexpr,
):
    batch = (tl.program_id(0) // channels).to(tl.int64)
    channel = (tl.program_id(0) % channels).to(tl.int64)
    places = (tl.program_id(1) * BLOCK_L + tl.arange(0, BLOCK_L)).to(tl.int64)
    x_row_ptr = x_ptr + batch * x_stride_b + channel * x_stride_c
    out_row_ptr = out_ptr + batch * out_stride_b + channel * out_stride_c
    acc = tl.zeros((BLOCK_L,), dtype=tl.float32) + tl.load(bias_ptr + channel).to(tl.float32)
    for tap in tl.static_range(WIDTH):
        sources = places - (WIDTH - 1) + tap
        mask = (sources >= 0) & (sources < length)
        x = tl.load(x_row_ptr + sources * x_stride_l, mask=mask, other=0.0).to(tl.float32)
        at = channel * weight_stride_c + tl.cast(tap, tl.int64) * weight_stride_w
        acc += x * tl.load(weight_ptr + at).to(tl.float32)
    tl.store(out_row_ptr + places, acc.to(out_ptr.dtype.element_ty), mask=places < length)


def causal_conv(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """x, (batch, channels, length) of any strides, with a filter of (channels, width), plus a bias of (channels)."""
    bias = bias.contiguous()
    batch, channels, length = x.shape
    out = torch.empty((batch, channels, length), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    block = min(triton.next_power_of_2(length), 128)
    if triton.cdiv(length, block) > 65_535:
        raise ValueError("a channel is longer than a grid is along y")
    causal_conv_kernel[(batch * channels, triton.cdiv(length, block))](
        x,
        weight,
        bias,
        out,
        channels,
        length,
        *x.stride(),
        *weight.stride(),
        out.stride(0),
        out.stride(1),
        WIDTH=weight.shape[1],
        BLOCK_L=block,
    )
    return out
