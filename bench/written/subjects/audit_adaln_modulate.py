"""Layer norm without weights, then scaled and shifted by what each sample says, as diffusion transformers do it."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

EPS = 1e-5
TOKENS_EACH = 32


@triton.jit
def modulate_kernel(
    x_ptr,
    scale_ptr,
    shift_ptr,
    out_ptr,
    mean_ptr,
    rstd_ptr,
    tokens,
    channels,
    x_batch_stride,
    x_token_stride,
    x_channel_stride,
    scale_batch_stride,
    scale_channel_stride,
    shift_batch_stride,
    shift_channel_stride,
    EPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    batch = row // tokens
    token = row % tokens
    x_at = x_ptr + batch * x_batch_stride + token * x_token_stride
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, channels, BLOCK):
        channel = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
        total += tl.load(x_at + channel * x_channel_stride, mask=channel < channels, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / channels
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, channels, BLOCK):
        channel = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
        x = tl.load(x_at + channel * x_channel_stride, mask=channel < channels, other=0.0).to(tl.float32)
        away = tl.where(channel < channels, x - mean, 0.0)
        squares += away * away
    rstd = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / channels + EPS)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for first in range(0, channels, BLOCK):
        channel = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
        mask = channel < channels
        x = tl.load(x_at + channel * x_channel_stride, mask=mask, other=0.0).to(tl.float32)
        scale = tl.load(scale_ptr + batch * scale_batch_stride + channel * scale_channel_stride, mask=mask, other=0.0)
        shift = tl.load(shift_ptr + batch * shift_batch_stride + channel * shift_channel_stride, mask=mask, other=0.0)
        normal = (x - mean) * rstd
        out = normal * (1.0 + scale.to(tl.float32)) + shift.to(tl.float32)
        tl.store(out_ptr + row * channels + channel, out.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def x_gradient_kernel(
    grad_ptr,
    x_ptr,
    scale_ptr,
    mean_ptr,
    rstd_ptr,
    x_grad_ptr,
    tokens,
    channels,
    grad_batch_stride,
    grad_token_stride,
    grad_channel_stride,
    x_batch_stride,
    x_token_stride,
    x_channel_stride,
    scale_batch_stride,
    scale_channel_stride,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    batch = row // tokens
    token = row % tokens
    grad_at = grad_ptr + batch * grad_batch_stride + token * grad_token_stride
    x_at = x_ptr + batch * x_batch_stride + token * x_token_stride
    scale_at = scale_ptr + batch * scale_batch_stride
    mean = tl.load(mean_ptr + row).to(tl.float32)
    rstd = tl.load(rstd_ptr + row).to(tl.float32)
    plain = tl.zeros((BLOCK,), tl.float32)
    along = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, channels, BLOCK):
        channel = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
        mask = channel < channels
        x = tl.load(x_at + channel * x_channel_stride, mask=mask, other=0.0).to(tl.float32)
        scale = tl.load(scale_at + channel * scale_channel_stride, mask=mask, other=0.0).to(tl.float32)
        grad = tl.load(grad_at + channel * grad_channel_stride, mask=mask, other=0.0).to(tl.float32)
        inner = tl.where(mask, grad * (1.0 + scale), 0.0)
        plain += inner
        along += tl.where(mask, inner * ((x - mean) * rstd), 0.0)
    plain_mean = tl.sum(plain, axis=0) / channels
    along_mean = tl.sum(along, axis=0) / channels
    for first in range(0, channels, BLOCK):
        channel = tl.cast(first, tl.int64) + tl.arange(0, BLOCK)
        mask = channel < channels
        x = tl.load(x_at + channel * x_channel_stride, mask=mask, other=0.0).to(tl.float32)
        scale = tl.load(scale_at + channel * scale_channel_stride, mask=mask, other=0.0).to(tl.float32)
        grad = tl.load(grad_at + channel * grad_channel_stride, mask=mask, other=0.0).to(tl.float32)
        x_grad = rstd * (grad * (1.0 + scale) - plain_mean - (x - mean) * rstd * along_mean)
        tl.store(x_grad_ptr + row * channels + channel, x_grad.to(x_grad_ptr.dtype.element_ty), mask=mask)


@triton.jit
def sample_gradients_kernel(
    grad_ptr,
    x_ptr,
    mean_ptr,
    rstd_ptr,
    sums_ptr,
    batches,
    tokens,
    channels,
    grad_batch_stride,
    grad_token_stride,
    grad_channel_stride,
    x_batch_stride,
    x_token_stride,
    x_channel_stride,
    TOKENS_EACH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    batch = tl.program_id(0).to(tl.int64)
    channel = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    start = tl.program_id(2).to(tl.int64) * TOKENS_EACH
    end = tl.minimum(start + TOKENS_EACH, tokens)
    scale_grad = tl.zeros((BLOCK,), tl.float32)
    shift_grad = tl.zeros((BLOCK,), tl.float32)
    for token in range(start, end):
        mean = tl.load(mean_ptr + batch * tokens + token).to(tl.float32)
        rstd = tl.load(rstd_ptr + batch * tokens + token).to(tl.float32)
        grad_at = grad_ptr + batch * grad_batch_stride + token * grad_token_stride
        grad = tl.load(grad_at + channel * grad_channel_stride, mask=mask, other=0.0).to(tl.float32)
        x_at = x_ptr + batch * x_batch_stride + token * x_token_stride
        x = tl.load(x_at + channel * x_channel_stride, mask=mask, other=0.0).to(tl.float32)
        scale_grad += grad * ((x - mean) * rstd)
        shift_grad += grad
    tl.atomic_add(sums_ptr + batch * channels + channel, scale_grad, mask=mask)
    tl.atomic_add(sums_ptr + (batches + batch) * channels + channel, shift_grad, mask=mask)


class Modulate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, shift):
        batch, tokens, channels = x.shape
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        mean, rstd = torch.empty((2, batch, tokens), dtype=torch.float32, device=x.device).unbind()
        block = min(1024, triton.next_power_of_2(channels))
        if batch * tokens:
            modulate_kernel[(batch * tokens,)](
                x,
                scale,
                shift,
                out,
                mean,
                rstd,
                tokens,
                channels,
                *x.stride(),
                *scale.stride(),
                *shift.stride(),
                EPS=EPS,
                BLOCK=block,
            )
        ctx.save_for_backward(x, scale, mean, rstd)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, scale, mean, rstd = ctx.saved_tensors
        batch, tokens, channels = x.shape
        x_grad = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        sums = torch.zeros((2, batch, channels), dtype=torch.float32, device=x.device)
        block = min(1024, triton.next_power_of_2(channels))
        if batch * tokens:
            x_gradient_kernel[(batch * tokens,)](
                grad,
                x,
                scale,
                mean,
                rstd,
                x_grad,
                tokens,
                channels,
                *grad.stride(),
                *x.stride(),
                *scale.stride(),
                BLOCK=block,
            )
            programs = triton.cdiv(tokens, TOKENS_EACH)
            sample_gradients_kernel[(batch, triton.cdiv(channels, block), programs)](
                grad,
                x,
                mean,
                rstd,
                sums,
                batch,
                tokens,
                channels,
                *grad.stride(),
                *x.stride(),
                TOKENS_EACH=TOKENS_EACH,
                BLOCK=block,
            )
        scale_grad, shift_grad = sums.to(scale.dtype).unbind()
        return x_grad, scale_grad, shift_grad


def modulate(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """x, (batch, tokens, channels), scale and shift, (batch, channels), of one dtype: each row of channels less its
    mean, over the root of its variance and 1e-5, times 1 + scale, plus shift. All in float32, rounded once."""
    if x.ndim != 3 or x.shape[2] < 1:
        raise ValueError("x is (batch, tokens, channels), with 1 channel or more")
    if scale.shape != (x.shape[0], x.shape[2]) or shift.shape != scale.shape:
        raise ValueError("scale and shift are (batch, channels)")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or {scale.dtype, shift.dtype} != {x.dtype}:
        raise ValueError("all are float32, all float16 or all bfloat16")
    if x.device != scale.device or x.device != shift.device or x.shape[0] * x.shape[1] >= 2**31:
        raise ValueError("all lie on one device, and there are fewer than 2^31 rows")
    if x.shape[1] > 65535 * TOKENS_EACH:
        raise ValueError("there are at most 2,097,120 tokens")
    return Modulate.apply(x, scale, shift)


def reference(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    wide = x.to(torch.float32)
    away = wide - wide.mean(dim=2, keepdim=True)
    normal = away / (away.square().mean(dim=2, keepdim=True) + EPS).sqrt()
    return (normal * (1.0 + scale.to(torch.float32)[:, None]) + shift.to(torch.float32)[:, None]).to(x.dtype)


modulated = Subject(
    modulate,
    reference=reference,
    inputs=[Tensor("batch", "tokens", "channels"), Tensor("batch", "channels"), Tensor("batch", "channels")],
    gradients=True,
    name="adaln_modulate",
    sizes={"batch": [8, 1, 3, 0], "tokens": [16, 1, 33, 70], "channels": [64, 1, 100, 1500]},
)
