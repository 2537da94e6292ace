"""Kernels that matrix units bound."""

import torch
import triton
import triton.language as tl

_TILES = [
    triton.Config({"TILE_M": m, "TILE_N": n, "TILE_K": k}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in (
        (128, 128, 64, 4, 4),
        (128, 256, 64, 8, 3),
        (64, 64, 64, 4, 4),
        (128, 128, 128, 8, 3),
    )
]


@triton.autotune(configs=_TILES, key=["m", "n", "k"])
@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    m,
    n,
    k,
    b_stride_k,
    b_stride_n,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
):
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(n, TILE_N)
    group = tile // (8 * tiles_n)
    height = min(tl.cdiv(m, TILE_M) - group * 8, 8)
    tile_m = group * 8 + (tile % (8 * tiles_n)) % height
    tile_n = (tile % (8 * tiles_n)) // height
    rows = (tile_m * TILE_M + tl.arange(0, TILE_M)).to(tl.int64)
    columns = (tile_n * TILE_N + tl.arange(0, TILE_N)).to(tl.int64)
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, k, TILE_K):
        depth = start + tl.arange(0, TILE_K)
        a_mask = (rows[:, None] < m) & (depth[None, :] < k)
        b_mask = (depth[:, None] < k) & (columns[None, :] < n)
        a = tl.load(a_ptr + rows[:, None] * k + depth[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + depth[:, None] * b_stride_k + columns[None, :] * b_stride_n, mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc)
    out_mask = (rows[:, None] < m) & (columns[None, :] < n)
    out = acc.to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + rows[:, None] * n + columns[None, :], out, mask=out_mask)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product of a contiguous matrix with one of any strides; of floats of 8 bits in bfloat16."""
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty(m, n, dtype=a.dtype if a.element_size() > 1 else torch.bfloat16, device=a.device)

    def grid(config):
        return (triton.cdiv(m, config["TILE_M"]) * triton.cdiv(n, config["TILE_N"]),)

    matmul_kernel[grid](a, b, out, m, n, k, b.stride(0), b.stride(1))
    return out


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, tokens, scale, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, HEAD: tl.constexpr
):
    head = tl.program_id(1).to(tl.int64) * tokens * HEAD
    rows = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    lanes = tl.arange(0, HEAD)
    q_mask = rows[:, None] < tokens
    q = tl.load(q_ptr + head + rows[:, None] * HEAD + lanes[None, :], mask=q_mask, other=0.0)
    highest = tl.full((BLOCK_Q,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_Q,), tl.float32)
    acc = tl.zeros((BLOCK_Q, HEAD), tl.float32)
    for start in range(0, tokens, BLOCK_K):
        columns = start + tl.arange(0, BLOCK_K)
        mask = columns[:, None] < tokens
        k = tl.load(k_ptr + head + columns[:, None] * HEAD + lanes[None, :], mask=mask, other=0.0)
        v = tl.load(v_ptr + head + columns[:, None] * HEAD + lanes[None, :], mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        scores = tl.where(columns[None, :] < tokens, scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher[:, None])
        decay = tl.exp(highest - higher)
        total = total * decay + tl.sum(weights, axis=1)
        acc = tl.dot(weights.to(v.dtype), v, acc * decay[:, None])
        highest = higher
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head + rows[:, None] * HEAD + lanes[None, :], out, mask=q_mask)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention of contiguous q, k and v, each (batch, heads, tokens, 64 or 128)."""
    out = torch.empty_like(q)
    batch, heads, tokens, head = q.shape
    grid = (triton.cdiv(tokens, 128), batch * heads)
    attention_kernel[grid](
        q, k, v, out, tokens, head**-0.5, BLOCK_Q=128, BLOCK_K=64, HEAD=head, num_warps=8, num_stages=3
    )
    return out
