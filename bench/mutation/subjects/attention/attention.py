"""Causal attention, forward: the scores of a block of queries are never in memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    heads,
    tokens,
    head_dim,
    q_stride_b,
    q_stride_h,
    q_stride_t,
    q_stride_d,
    k_stride_b,
    k_stride_h,
    k_stride_t,
    k_stride_d,
    v_stride_b,
    v_stride_h,
    v_stride_t,
    v_stride_d,
    out_stride_b,
    out_stride_h,
    out_stride_t,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    block = tl.program_id(0)
    batch = (tl.program_id(1) // heads).to(tl.int64)
    head = (tl.program_id(1) % heads).to(tl.int64)
    q_ptr += batch * q_stride_b + head * q_stride_h
    k_ptr += batch * k_stride_b + head * k_stride_h
    v_ptr += batch * v_stride_b + head * v_stride_h
    out_ptr += batch * out_stride_b + head * out_stride_h

    rows = (block * BLOCK_Q + tl.arange(0, BLOCK_Q)).to(tl.int64)
    dims = tl.arange(0, BLOCK_D).to(tl.int64)
    row_mask = (rows[:, None] < tokens) & (dims[None, :] < head_dim)
    q = tl.load(q_ptr + rows[:, None] * q_stride_t + dims[None, :] * q_stride_d, mask=row_mask, other=0.0)

    highest = tl.full((BLOCK_Q,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_Q,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_Q, BLOCK_D), dtype=tl.float32)
    for start in range(0, min((block + 1) * BLOCK_Q, tokens), BLOCK_K):
        cols = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
        col_mask = (cols[:, None] < tokens) & (dims[None, :] < head_dim)
        k = tl.load(k_ptr + cols[:, None] * k_stride_t + dims[None, :] * k_stride_d, mask=col_mask, other=0.0)
        v = tl.load(v_ptr + cols[:, None] * v_stride_t + dims[None, :] * v_stride_d, mask=col_mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = (cols[None, :] <= rows[:, None]) & (cols[None, :] < tokens)
        scores = tl.where(seen, scores, -float("inf"))
        new_highest = tl.maximum(highest, tl.max(scores, axis=1))
        shift = tl.where(new_highest == -float("inf"), 0.0, new_highest)
        weights = tl.exp(scores - shift[:, None])
        decay = tl.exp(highest - shift)
        total = total * decay + tl.sum(weights, axis=1)
        acc = acc * decay[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        highest = new_highest
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + rows[:, None] * out_stride_t + dims[None, :], out, mask=row_mask)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention of q, k and v, each (batch, heads, tokens, dimensions of a head), of any strides."""
    batch, heads, tokens, head_dim = q.shape
    out = torch.empty((batch, heads, tokens, head_dim), dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    block_q = 32
    if batch * heads > 65_535:
        raise ValueError("there are more heads than a grid has along y")
    attention_kernel[(triton.cdiv(tokens, block_q), batch * heads)](
        q,
        k,
        v,
        out,
        heads,
        tokens,
        head_dim,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        *out.stride()[:3],
        head_dim**-0.5,
        BLOCK_Q=block_q,
        BLOCK_K=32,
        BLOCK_D=max(16, triton.next_power_of_2(head_dim)),
    )
    return out
