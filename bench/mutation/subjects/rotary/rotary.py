"""Rotary position embedding: the two halves of each head are turned by the angle of its token."""

import torch
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(
    x_ptr,
    cos_ptr,
    sin_ptr,
    out_ptr,
    tokens,
    heads,
    half,
    x_stride_b,
    x_stride_t,
    x_stride_h,
    x_stride_d,
    cos_stride_t,
    sin_stride_t,
    out_stride_b,
    out_stride_t,
    out_stride_h,
    BLOCK_HEADS: tl.constexpr,
    BLOCK_HALF: tl.constexpr,
):
    batch = (tl.program_id(0) // tokens).to(tl.int64)
    token = (tl.program_id(0) % tokens).to(tl.int64)
    x_ptr += batch * x_stride_b + token * x_stride_t
    out_ptr += batch * out_stride_b + token * out_stride_t
    dims = tl.arange(0, BLOCK_HALF).to(tl.int64)
    dim_mask = dims < half
    cos = tl.load(cos_ptr + token * cos_stride_t + dims, mask=dim_mask).to(tl.float32)
    sin = tl.load(sin_ptr + token * sin_stride_t + dims, mask=dim_mask).to(tl.float32)
    for start in range(0, heads, BLOCK_HEADS):
        head = (start + tl.arange(0, BLOCK_HEADS)).to(tl.int64)
        mask = (head[:, None] < heads) & dim_mask[None, :]
        x_block_ptr = x_ptr + head[:, None] * x_stride_h
        first = tl.load(x_block_ptr + dims[None, :] * x_stride_d, mask=mask).to(tl.float32)
        second = tl.load(x_block_ptr + (dims[None, :] + half) * x_stride_d, mask=mask).to(tl.float32)
        turned_first = first * cos[None, :] - second * sin[None, :]
        turned_second = second * cos[None, :] + first * sin[None, :]
        out_block_ptr = out_ptr + head[:, None] * out_stride_h + dims[None, :]
        tl.store(out_block_ptr, turned_first.to(out_ptr.dtype.element_ty), mask=mask)
        tl.store(out_block_ptr + half, turned_second.to(out_ptr.dtype.element_ty), mask=mask)


def rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x, (batch, tokens, heads, 2 * half) of any strides, turned by the angles of (tokens, half)."""
    cos = cos if cos.stride(-1) == 1 else cos.contiguous()
    sin = sin if sin.stride(-1) == 1 else sin.contiguous()
    batch, tokens, heads, dim = x.shape
    out = torch.empty((batch, tokens, heads, dim), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    rotary_kernel[(batch * tokens,)](
        x,
        cos,
        sin,
        out,
        tokens,
        heads,
        dim // 2,
        *x.stride(),
        cos.stride(0),
        sin.stride(0),
        *out.stride()[:3],
        BLOCK_HEADS=4,
        BLOCK_HALF=triton.next_power_of_2(dim // 2),
    )
    return out
