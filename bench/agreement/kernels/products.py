"""Matrix products: what tensor cores are for."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _matmul(
    a,
    b,
    c,
    m,
    n,
    k,
    stride_am,
    stride_bk,
    stride_cm,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    # What lies outside of the matrix is read from within, and never stored.
    a_tile = a + (rows % m)[:, None] * stride_am + inner[None, :]
    b_tile = b + inner[:, None] * stride_bk + (columns % n)[None, :]
    total = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        left = tl.load(a_tile, mask=inner[None, :] < k - start, other=0.0)
        right = tl.load(b_tile, mask=inner[:, None] < k - start, other=0.0)
        total = tl.dot(left, right, total)
        a_tile += TILE_K
        b_tile += TILE_K * stride_bk
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c + rows[:, None] * stride_cm + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


def matmul(a: torch.Tensor, b: torch.Tensor, tile: tuple[int, int, int], warps: int, stages: int) -> torch.Tensor:
    """The product of two matrices with dense rows, accumulated in 32 bits."""
    m, k = a.shape
    _, n = b.shape
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    tile_m, tile_n, tile_k = tile
    _matmul[(triton.cdiv(m, tile_m), triton.cdiv(n, tile_n))](
        a,
        b,
        out,
        m,
        n,
        k,
        a.stride(0),
        b.stride(0),
        out.stride(0),
        TILE_M=tile_m,
        TILE_N=tile_n,
        TILE_K=tile_k,
        num_warps=warps,
        num_stages=stages,
    )
    return out


@triton.jit
def _attention(
    query,
    key,
    value,
    dst,
    length,
    scale,
    stride_head,
    stride_token,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    SIZE: tl.constexpr,
):
    base = tl.program_id(1).to(tl.int64) * stride_head
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    lanes = tl.arange(0, SIZE)
    here = rows[:, None] * stride_token + lanes[None, :]
    q = tl.load(query + base + here, mask=(rows < length)[:, None], other=0.0)
    largest = tl.full([TILE_M], -float("inf"), tl.float32)
    total = tl.zeros([TILE_M], tl.float32)
    gathered = tl.zeros([TILE_M, SIZE], tl.float32)
    # Up to the diagonal: no token looks at a later one.
    for start in range(0, tl.minimum(length, (tl.program_id(0) + 1) * TILE_M), TILE_N):
        tokens = start + tl.arange(0, TILE_N)
        there = tokens[:, None] * stride_token + lanes[None, :]
        k = tl.load(key + base + there, mask=(tokens < length)[:, None], other=0.0)
        v = tl.load(value + base + there, mask=(tokens < length)[:, None], other=0.0)
        seen = (tokens < length)[None, :] & (tokens[None, :] <= rows[:, None])
        scores = tl.where(seen, tl.dot(q, tl.trans(k)) * scale, -float("inf"))
        higher = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        kept = tl.exp2(largest - higher)
        total = total * kept + tl.sum(weights, 1)
        gathered = tl.dot(weights.to(v.dtype), v, gathered * kept[:, None])
        largest = higher
    y = gathered / total[:, None]
    tl.store(dst + base + here, y.to(dst.dtype.element_ty), mask=(rows < length)[:, None])


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Causal attention over (heads, tokens, size), in one pass over the keys."""
    heads, length, size = query.shape
    out = torch.empty_like(query)
    # exp2 in place of exp: the scale takes the factor.
    scale = 1.4426950408889634 / size**0.5
    tile = 64
    _attention[(triton.cdiv(length, tile), heads)](
        query,
        key,
        value,
        out,
        length,
        scale,
        query.stride(0),
        query.stride(1),
        TILE_M=tile,
        TILE_N=tile,
        SIZE=size,
        num_warps=4,
        num_stages=2,
    )
    return out
