"""A causal convolution of each channel over time with a short filter, a bias and SiLU, on inputs with channels or
time innermost."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def causal_conv_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, channels, time, x_batch, x_channel, x_time, out_batch, out_channel, out_time,
    WIDTH: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_T: tl.constexpr,
):  # fmt: skip
    tiles_t = tl.cdiv(time, BLOCK_T)
    tiles_c = tl.cdiv(channels, BLOCK_C)
    pid = tl.program_id(0)
    batch = (pid // (tiles_t * tiles_c)).to(tl.int64)
    c = ((pid // tiles_t) % tiles_c).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    t = (pid % tiles_t).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    c_mask = c < channels
    bias = tl.load(bias_ptr + c, mask=c_mask, other=0.0).to(tl.float32)
    acc = tl.zeros((BLOCK_C, BLOCK_T), tl.float32) + bias[:, None]
    for tap in tl.static_range(WIDTH):
        source = t + (tap - (WIDTH - 1))
        mask = c_mask[:, None] & ((source >= 0) & (source < time))[None, :]
        x_ptrs = x_ptr + batch * x_batch + c[:, None] * x_channel + source[None, :] * x_time
        x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + c * WIDTH + tap, mask=c_mask, other=0.0).to(tl.float32)
        acc += x * weight[:, None]
    y = acc / (1.0 + tl.exp(-acc))
    out_ptrs = out_ptr + batch * out_batch + c[:, None] * out_channel + t[None, :] * out_time
    tl.store(out_ptrs, y.to(out_ptr.dtype.element_ty), mask=c_mask[:, None] & (t < time)[None, :])


def causal_conv1d(x, weight, bias):
    assert x.ndim == 3
    assert weight.ndim == 2
    assert weight.shape[0] == bias.shape[0] == x.shape[1]
    assert weight.shape[1] > 0
    assert x.dtype == weight.dtype == bias.dtype
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    weight, bias = weight.contiguous(), bias.contiguous()
    batch, channels, time = x.shape
    # The output has its channels innermost where the input has, so that what comes next finds the same layout.
    if x.stride(1) == 1 and channels > 1:
        out = torch.empty((batch, time, channels), device=x.device, dtype=x.dtype).transpose(1, 2)
        block_c, block_t = 64, 16
    else:
        out = torch.empty((batch, channels, time), device=x.device, dtype=x.dtype)
        block_c, block_t = 4, 256
    if out.numel() > 0:
        grid = (batch * triton.cdiv(channels, block_c) * triton.cdiv(time, block_t),)
        causal_conv_kernel[grid](
            x, weight, bias, out, channels, time, *x.stride(), *out.stride(),
            WIDTH=weight.shape[1], BLOCK_C=block_c, BLOCK_T=block_t,
        )  # fmt: skip
    return out


def reference(x, weight, bias):
    width, time = weight.shape[1], x.shape[2]
    padded = F.pad(x.float(), (width - 1, 0))
    y = bias.float()[None, :, None].expand(x.shape)
    for tap in range(width):
        y = y + padded[:, :, tap : tap + time] * weight[:, tap].float()[None, :, None]
    return F.silu(y).to(x.dtype)


conv = Subject(
    causal_conv1d,
    reference=reference,
    inputs=[Tensor("batch", "channels", "time"), Tensor("channels", "width"), Tensor("channels")],
    sizes={"width": [1, 3, 4]},
)
