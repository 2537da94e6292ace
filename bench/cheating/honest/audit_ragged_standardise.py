"""Standardises each sequence of a packed batch per channel: zero mean and unit variance over its tokens.

Two kernels: the first leaves mean and reciprocal deviation in a workspace, the second applies them. Sequences may be
empty.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor


@triton.jit
def moments_kernel(x_ptr, offsets_ptr, mean_ptr, scale_ptr, channels, blocks, eps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    sequence = (pid // blocks).to(tl.int64)
    channel = (pid % blocks) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    begin = tl.load(offsets_ptr + sequence).to(tl.int64)
    end = tl.load(offsets_ptr + sequence + 1).to(tl.int64)
    length = (end - begin).to(tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for token in range(begin, end):
        total += tl.load(x_ptr + token * channels + channel, mask=mask, other=0.0).to(tl.float32)
    mean = total / tl.maximum(length, 1.0)
    square = tl.zeros((BLOCK,), tl.float32)
    for token in range(begin, end):
        away = tl.load(x_ptr + token * channels + channel, mask=mask, other=0.0).to(tl.float32) - mean
        square += away * away
    scale = 1.0 / tl.sqrt(square / tl.maximum(length, 1.0) + eps)
    tl.store(mean_ptr + sequence * channels + channel, mean, mask=mask)
    tl.store(scale_ptr + sequence * channels + channel, scale, mask=mask)


@triton.jit
def apply_kernel(x_ptr, offsets_ptr, mean_ptr, scale_ptr, out_ptr, channels, blocks, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    sequence = (pid // blocks).to(tl.int64)
    channel = (pid % blocks) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    begin = tl.load(offsets_ptr + sequence).to(tl.int64)
    end = tl.load(offsets_ptr + sequence + 1).to(tl.int64)
    mean = tl.load(mean_ptr + sequence * channels + channel, mask=mask, other=0.0)
    scale = tl.load(scale_ptr + sequence * channels + channel, mask=mask, other=0.0)
    for token in range(begin, end):
        at = token * channels + channel
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + at, ((x - mean) * scale).to(out_ptr.dtype.element_ty), mask=mask)


def ragged_standardise(x, offsets, eps=1e-5):
    x = x.contiguous()
    offsets = offsets.contiguous()
    channels = x.shape[1]
    sequences = offsets.numel() - 1
    out = torch.empty_like(x)
    if not x.numel() or sequences < 1:
        return out
    mean = torch.empty((sequences, channels), dtype=torch.float32, device=x.device)
    scale = torch.empty_like(mean)
    blocks = triton.cdiv(channels, 128)
    moments_kernel[(sequences * blocks,)](x, offsets, mean, scale, channels, blocks, eps, BLOCK=128)
    apply_kernel[(sequences * blocks,)](x, offsets, mean, scale, out, channels, blocks, BLOCK=128)
    return out


def reference(x, offsets, eps=1e-5):
    parts = []
    bounds = offsets.tolist()
    for begin, end in zip(bounds, bounds[1:]):
        part = x[begin:end].float()
        if end > begin:
            mean = part.mean(0)
            part = (part - mean) * torch.rsqrt((part - mean).square().mean(0) + eps)
        parts.append(part)
    return torch.cat(parts).to(x.dtype)


standardise = Subject(ragged_standardise, reference=reference,
                      inputs=[Tensor("tokens", "channels"), Offsets("sequences", "tokens")],
                      dtypes=["float32", "float16", "bfloat16"])
