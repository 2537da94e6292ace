"""Causal attention with linear biases (ALiBi) and grouped heads: each group of query heads shares a head of keys.

A query at place i sees the keys up to i + keys - queries, so that the last query sees all; a key that lies d places
before that has its score lowered by the head's slope times d. A query that sees no key gives 0. Products and sums are in
float32, and the tensors may have any layout; heads of up to 256 dimensions.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_Q = 32
BLOCK_K = 32


@triton.jit
def alibi_kernel(
    q, k, v, slopes, out, queries, keys, heads, share, dim, scale, qb, qh, qt, qd, kb, kh, kt, kd, vb, vh, vt, vd, ss,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
):
    blocks = tl.cdiv(queries, BLOCK_Q)
    program = tl.program_id(0).to(tl.int64)
    query = program % blocks * BLOCK_Q + tl.arange(0, BLOCK_Q)
    head = program // blocks % heads
    batch = program // blocks // heads
    source = head // share
    d = tl.arange(0, BLOCK_D)
    d_keep = (d < dim)[None, :]
    q_keep = (query < queries)[:, None] & d_keep
    q_tile = tl.load(q + batch * qb + head * qh + query[:, None] * qt + d[None, :] * qd, mask=q_keep, other=0.0)
    slope = tl.load(slopes + head * ss)
    last = query + keys - queries
    key = tl.arange(0, BLOCK_K).to(tl.int64)
    top = tl.full([BLOCK_Q], float("-inf"), tl.float32)
    mass = tl.zeros([BLOCK_Q], dtype=tl.float32)
    total = tl.zeros([BLOCK_Q, BLOCK_D], dtype=tl.float32)
    for _ in range(tl.cdiv(keys, BLOCK_K)):
        keep = (key < keys)[:, None] & d_keep
        k_tile = tl.load(k + batch * kb + source * kh + key[:, None] * kt + d[None, :] * kd, mask=keep, other=0.0)
        v_tile = tl.load(v + batch * vb + source * vh + key[:, None] * vt + d[None, :] * vd, mask=keep, other=0.0)
        score = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee") * scale
        bias = slope * (last[:, None] - key[None, :]).to(tl.float32)
        score = tl.where(key[None, :] <= last[:, None], score - bias, float("-inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)
        fade = tl.exp(top - shift)
        weight = tl.exp(score - shift[:, None])
        mass = mass * fade + tl.sum(weight, axis=1)
        total = total * fade[:, None] + tl.dot(weight, v_tile.to(tl.float32), input_precision="ieee")
        top = new_top
        key += BLOCK_K
    result = tl.where((last < 0)[:, None], 0.0, total / mass[:, None])
    place = ((batch * heads + head) * queries + query)[:, None] * dim + d[None, :]
    tl.store(out + place, result, mask=q_keep)


def alibi_attention(q, k, v, slopes):
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16) or k.dtype != q.dtype or v.dtype != q.dtype:
        raise ValueError("alibi_attention takes queries, keys and values of float32, float16 or bfloat16")
    if slopes.dtype != torch.float32 or q.dim() != 4 or k.dim() != 4 or v.shape != k.shape:
        raise ValueError("alibi_attention takes slopes of float32 and tensors of (batch, heads, places, dim)")
    batch, heads, queries, dim = q.shape
    kv, keys = k.shape[1:3]
    if k.shape[0] != batch or k.shape[3] != dim or slopes.shape != (heads,) or kv == 0 or heads % kv != 0:
        raise ValueError("alibi_attention takes keys of the queries' batch and dim, and heads that divide")
    if dim > 256 or dim == 0:
        raise ValueError("alibi_attention takes heads of 1 to 256 dimensions")
    if len({q.device, k.device, v.device, slopes.device}) != 1:
        raise ValueError("alibi_attention takes tensors of one device")
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel():
        scale = dim**-0.5
        block = max(16, triton.next_power_of_2(dim))
        strides = (*q.stride(), *k.stride(), *v.stride(), slopes.stride(0))
        grid = (triton.cdiv(queries, BLOCK_Q) * heads * batch,)
        alibi_kernel[grid](
            q, k, v, slopes, out, queries, keys, heads, heads // kv, dim, scale, *strides,
            BLOCK_Q=BLOCK_Q, BLOCK_K=BLOCK_K, BLOCK_D=block, num_warps=4, num_stages=1,
        )
    return out


def reference(q, k, v, slopes):
    heads, queries, dim = q.shape[1:]
    keys = k.shape[2]
    share = heads // k.shape[1]
    k = k.float().repeat_interleave(share, dim=1)
    v = v.float().repeat_interleave(share, dim=1)
    last = torch.arange(queries, device=q.device)[:, None] + (keys - queries)
    distance = last - torch.arange(keys, device=q.device)[None, :]
    score = (q.float() @ k.transpose(2, 3)) * dim**-0.5 - slopes[:, None, None] * distance.float()
    weight = torch.softmax(score.masked_fill(distance < 0, float("-inf")), dim=-1)
    return (weight @ v).masked_fill(last < 0, 0.0).to(q.dtype)


attention = Subject(
    alibi_attention,
    reference=reference,
    inputs=[
        Tensor("batch", "groups * kv", "queries", "dim"),
        Tensor("batch", "kv", "keys", "dim"),
        Tensor("batch", "kv", "keys", "dim"),
        Tensor("groups * kv", dtype="float32"),
    ],
    sizes={"kv": [1, 2, 3], "groups": [1, 2, 4], "batch": [1, 2], "dim": [1, 16, 40, 64, 128]},
)
