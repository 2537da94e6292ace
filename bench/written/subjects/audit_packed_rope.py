"""Rotary embedding of packed sequences: each token's position counts from the start of its own sequence.

A program has some tokens and goes through their heads; it finds each token's sequence by bisection of the offsets. The
first two thirds of a head turn, halves against each other, and the last third passes through."""

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

BLOCK_T = 8


@triton.jit
def position_of(offsets_ptr, token, sequences, STEPS: tl.constexpr):
    low = tl.zeros_like(token)
    high = tl.zeros_like(token) + sequences
    for _ in range(STEPS):
        middle = (low + high) // 2
        right = tl.load(offsets_ptr + middle).to(tl.int64) <= token
        low = tl.where(right, middle, low)
        high = tl.where(right, high, middle)
    return token - tl.load(offsets_ptr + low).to(tl.int64)


@triton.jit
def packed_rope_kernel(
    x_ptr,
    cos_ptr,
    sin_ptr,
    offsets_ptr,
    out_ptr,
    tokens,
    heads,
    dim,
    half,
    sequences,
    x_token_stride,
    x_head_stride,
    x_dim_stride,
    cos_row_stride,
    cos_col_stride,
    sin_row_stride,
    sin_col_stride,
    STEPS: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_HALF: tl.constexpr,
    BLOCK_REST: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    token_mask = token < tokens
    position = position_of(offsets_ptr, tl.minimum(token, tokens - 1), sequences, STEPS)

    d = tl.arange(0, BLOCK_HALF).to(tl.int64)
    mask = token_mask[:, None] & (d < half)[None, :]
    table = position[:, None]
    cos = tl.load(cos_ptr + table * cos_row_stride + d[None, :] * cos_col_stride, mask=mask, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + table * sin_row_stride + d[None, :] * sin_col_stride, mask=mask, other=0.0).to(tl.float32)

    rest = 2 * half + tl.arange(0, BLOCK_REST).to(tl.int64)
    rest_mask = token_mask[:, None] & (rest < dim)[None, :]
    for head in range(heads):
        x_rows = x_ptr + token * x_token_stride + tl.cast(head, tl.int64) * x_head_stride
        out_rows = out_ptr + (token * heads + head) * dim
        first_ptrs = x_rows[:, None] + d[None, :] * x_dim_stride
        second_ptrs = x_rows[:, None] + (d + half)[None, :] * x_dim_stride
        first = tl.load(first_ptrs, mask=mask, other=0.0).to(tl.float32)
        second = tl.load(second_ptrs, mask=mask, other=0.0).to(tl.float32)
        turned_first = first * cos - second * sin
        turned_second = second * cos + first * sin
        tl.store(out_rows[:, None] + d[None, :], turned_first.to(out_ptr.dtype.element_ty), mask=mask)
        tl.store(out_rows[:, None] + (d + half)[None, :], turned_second.to(out_ptr.dtype.element_ty), mask=mask)
        same = tl.load(x_rows[:, None] + rest[None, :] * x_dim_stride, mask=rest_mask, other=0.0)
        tl.store(out_rows[:, None] + rest[None, :], same, mask=rest_mask)


def packed_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """x, (tokens, heads, dim); cos and sin, (positions, half), where 2 * half <= dim; offsets, (sequences + 1)."""
    tokens, heads, dim = x.shape
    half = cos.shape[1]
    sequences = offsets.numel() - 1
    if sin.shape != cos.shape or 2 * half > dim:
        raise ValueError("wants as many cosines as sines, and no more of them than half of a head")
    out = torch.empty((tokens, heads, dim), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    packed_rope_kernel[(triton.cdiv(tokens, BLOCK_T),)](
        x,
        cos,
        sin,
        offsets.contiguous(),
        out,
        tokens,
        heads,
        dim,
        half,
        sequences,
        *x.stride(),
        *cos.stride(),
        *sin.stride(),
        STEPS=sequences.bit_length(),
        BLOCK_T=BLOCK_T,
        BLOCK_HALF=triton.next_power_of_2(half),
        BLOCK_REST=triton.next_power_of_2(max(dim - 2 * half, 1)),
    )
    return out


def reference(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    half = cos.shape[1]
    lengths = (offsets[1:] - offsets[:-1]).long()
    starts = torch.repeat_interleave(offsets[:-1].long(), lengths)
    positions = torch.arange(x.shape[0], device=x.device) - starts
    c, s = cos[positions][:, None, :].to(wide), sin[positions][:, None, :].to(wide)
    first, second = x[..., :half].to(wide), x[..., half : 2 * half].to(wide)
    turned = torch.cat((first * c - second * s, second * c + first * s), dim=-1)
    return torch.cat((turned.to(x.dtype), x[..., 2 * half :]), dim=-1)


rope = Subject(
    packed_rope,
    reference=reference,
    inputs=[
        Tensor("tokens", "heads", "3 * half"),
        Tensor("tokens", "half"),
        Tensor("tokens", "half"),
        Offsets("sequences", "tokens"),
    ],
    name="packed_rope",
    sizes={
        "tokens": [32, 1, 15, 70, 0],
        "heads": [2, 1, 3, 5],
        "half": [16, 1, 5, 32, 33],
        "sequences": [3, 1, 2, 9, 40],
    },
)
