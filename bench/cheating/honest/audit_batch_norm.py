"""Batch normalisation in training: partial moments, their combination, and the normalisation, a kernel each."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

ROWS_PER_PART = 128


@triton.jit
def partial_moments_kernel(
    x_ptr, mean_ptr, m2_ptr, rows, channels, ROWS: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr
):
    channel_tiles = tl.cdiv(channels, BLOCK_C)
    part = (tl.program_id(0) // channel_tiles).to(tl.int64)
    c = (tl.program_id(0) % channel_tiles) * BLOCK_C + tl.arange(0, BLOCK_C)
    begin = part * ROWS
    end = tl.minimum(begin + ROWS, rows)
    total = tl.zeros((BLOCK_C,), tl.float32)
    for start in range(begin, end, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        mask = (r < end)[:, None] & (c < channels)[None, :]
        x = tl.load(x_ptr + r[:, None] * channels + c[None, :], mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(x, axis=0)
    mean = total / (end - begin).to(tl.float32)
    m2 = tl.zeros((BLOCK_C,), tl.float32)
    for start in range(begin, end, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        mask = (r < end)[:, None] & (c < channels)[None, :]
        x = tl.load(x_ptr + r[:, None] * channels + c[None, :], mask=mask, other=0.0).to(tl.float32)
        difference = tl.where(mask, x - mean[None, :], 0.0)
        m2 += tl.sum(difference * difference, axis=0)
    tl.store(mean_ptr + part * channels + c, mean, mask=c < channels)
    tl.store(m2_ptr + part * channels + c, m2, mask=c < channels)


@triton.jit
def combine_moments_kernel(
    part_mean_ptr, part_m2_ptr, mean_ptr, var_ptr, parts, rows, channels, ROWS: tl.constexpr, BLOCK_C: tl.constexpr
):
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = c < channels
    mean = tl.zeros((BLOCK_C,), tl.float32)
    m2 = tl.zeros((BLOCK_C,), tl.float32)
    before = 0.0
    offsets = c.to(tl.int64)
    for part in range(0, parts):
        count = tl.minimum(rows - part * ROWS, ROWS).to(tl.float32)
        part_mean = tl.load(part_mean_ptr + offsets, mask=mask, other=0.0)
        part_m2 = tl.load(part_m2_ptr + offsets, mask=mask, other=0.0)
        difference = part_mean - mean
        share = count / (before + count)
        mean += difference * share
        m2 += part_m2 + difference * difference * (before * share)
        before += count
        offsets += channels
    tl.store(mean_ptr + c, mean, mask=mask)
    tl.store(var_ptr + c, m2 / rows, mask=mask)


@triton.jit
def normalize_kernel(
    x_ptr, mean_ptr, var_ptr, weight_ptr, bias_ptr, out_ptr, rows, channels, eps,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    channel_tiles = tl.cdiv(channels, BLOCK_C)
    r = (tl.program_id(0) // channel_tiles).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = (tl.program_id(0) % channel_tiles) * BLOCK_C + tl.arange(0, BLOCK_C)
    inside = c < channels
    mean = tl.load(mean_ptr + c, mask=inside, other=0.0)
    rstd = tl.rsqrt(tl.load(var_ptr + c, mask=inside, other=1.0) + eps)
    weight = tl.load(weight_ptr + c, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + c, mask=inside, other=0.0).to(tl.float32)
    mask = (r < rows)[:, None] & inside[None, :]
    offsets = r[:, None] * channels + c[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    y = (x - mean[None, :]) * rstd[None, :] * weight[None, :] + bias[None, :]
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=mask)


def batch_norm(x, weight, bias, eps=1e-5):
    assert x.ndim == 2 and weight.shape == bias.shape == x.shape[1:] and x.shape[0] > 0
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    rows, channels = x.shape
    parts = triton.cdiv(rows, ROWS_PER_PART)
    part_mean = torch.empty((parts, channels), device=x.device, dtype=torch.float32)
    part_m2 = torch.empty_like(part_mean)
    mean = torch.empty(channels, device=x.device, dtype=torch.float32)
    var = torch.empty_like(mean)
    out = torch.empty_like(x)
    if channels > 0:
        tiles = triton.cdiv(channels, 32)
        partial_moments_kernel[(parts * tiles,)](
            x, part_mean, part_m2, rows, channels, ROWS=ROWS_PER_PART, BLOCK_R=32, BLOCK_C=32
        )
        combine_moments_kernel[(tiles,)](
            part_mean, part_m2, mean, var, parts, rows, channels, ROWS=ROWS_PER_PART, BLOCK_C=32
        )
        normalize_kernel[(triton.cdiv(rows, 32) * tiles,)](
            x, mean, var, weight, bias, out, rows, channels, eps, BLOCK_R=32, BLOCK_C=32
        )
    return {"out": out, "mean": mean, "var": var}


def reference(x, weight, bias, eps=1e-5):
    values = x.float()
    mean = values.mean(dim=0)
    var = values.var(dim=0, unbiased=False)
    out = (values - mean) * torch.rsqrt(var + eps) * weight.float() + bias.float()
    return {"out": out.to(x.dtype), "mean": mean, "var": var}


norm = Subject(
    batch_norm, reference=reference, inputs=[Tensor("rows", "channels"), Tensor("channels"), Tensor("channels")]
)
