"""Group norm of (batch, channels, length): a program normalises one group of channels of one sample."""

import torch
import triton
import triton.language as tl


@triton.jit
def group_norm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    groups,
    per_group,
    length,
    x_stride_b,
    x_stride_c,
    x_stride_l,
    out_stride_b,
    out_stride_c,
    eps,
    BLOCK_C: tl.constexpr,
    BLOCK_L: tl.constexpr,
):
    batch = (tl.program_id(0) // groups).to(tl.int64)
    group = (tl.program_id(0) % groups).to(tl.int64)
    inside = tl.arange(0, BLOCK_C)
    channels = group * per_group + inside
    channel_mask = inside < per_group
    x_rows = x_ptr + batch * x_stride_b + channels[:, None] * x_stride_c
    out_rows = out_ptr + batch * out_stride_b + channels[:, None] * out_stride_c
    scale = 1.0 / (per_group * length)

    sums = tl.zeros((BLOCK_C, BLOCK_L), dtype=tl.float32)
    for start in range(0, length, BLOCK_L):
        places = start + tl.arange(0, BLOCK_L).to(tl.int64)
        mask = channel_mask[:, None] & (places[None, :] < length)
        sums += tl.load(x_rows + places[None, :] * x_stride_l, mask=mask, other=0.0).to(tl.float32) * scale
    mean = tl.sum(tl.sum(sums, axis=1), axis=0)

    squares = tl.zeros((BLOCK_C, BLOCK_L), dtype=tl.float32)
    for start in range(0, length, BLOCK_L):
        places = start + tl.arange(0, BLOCK_L).to(tl.int64)
        mask = channel_mask[:, None] & (places[None, :] < length)
        x = tl.load(x_rows + places[None, :] * x_stride_l, mask=mask, other=0.0).to(tl.float32)
        centred = tl.where(mask, x - mean, 0.0)
        squares += centred * centred
    inverse = 1.0 / tl.sqrt(tl.sum(tl.sum(squares, axis=1), axis=0) * scale + eps)

    weight = tl.load(weight_ptr + channels, mask=channel_mask).to(tl.float32)
    bias = tl.load(bias_ptr + channels, mask=channel_mask).to(tl.float32)
    for start in range(0, length, BLOCK_L):
        places = start + tl.arange(0, BLOCK_L).to(tl.int64)
        mask = channel_mask[:, None] & (places[None, :] < length)
        x = tl.load(x_rows + places[None, :] * x_stride_l, mask=mask).to(tl.float32)
        normed = (x - mean) * inverse * weight[:, None] + bias[:, None]
        tl.store(out_rows + places[None, :], normed.to(out_ptr.dtype.element_ty), mask=mask)


def group_norm(
    x: torch.Tensor, groups: int, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """Group norm of x, (batch, channels, length) of any strides, with weight and bias of (channels)."""
    weight, bias = weight.contiguous(), bias.contiguous()
    batch, channels, length = x.shape
    out = torch.empty((batch, channels, length), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    per_group = channels // groups
    group_norm_kernel[(batch * groups,)](
        x,
        weight,
        bias,
        out,
        groups,
        per_group,
        length,
        *x.stride(),
        out.stride(0),
        out.stride(1),
        eps,
        BLOCK_C=triton.next_power_of_2(per_group),
        BLOCK_L=min(triton.next_power_of_2(length), 64),
    )
    return out
