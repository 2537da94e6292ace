"""Adds to each channel a number of its own; the input may have gaps."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def channel_bias_kernel(
    x_ptr,
    bias_ptr,
    out_ptr,
    channels,
    length,
    x_batch,
    x_channel,
    x_place,
    out_batch,
    out_channel,
    out_place,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    sample = row // channels
    channel = row % channels
    c = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bias = tl.load(bias_ptr + channel)
    x = tl.load(x_ptr + sample * x_batch + channel * x_channel + c * x_place, mask=c < length, other=0.0)
    offsets = sample * x_batch + channel * x_channel + c * x_place
    tl.store(out_ptr + offsets, x + bias, mask=c < length)  # fault: store out of bounds: strides of the input where it has gaps


def channel_bias(x, bias):
    bias = bias.contiguous()
    batch, channels, length = x.shape
    out = torch.empty_like(x)
    if x.numel() > 0:
        channel_bias_kernel[(batch * channels, triton.cdiv(length, 128))](
            x, bias, out, channels, length, *x.stride(), *out.stride(), BLOCK=128
        )
    return out


biased = Subject(
    channel_bias,
    reference=lambda x, bias: x + bias[None, :, None],
    inputs=[Tensor("batch", "channels", "length"), Tensor("channels")],
    dtypes=["float32", "float16"],
)
