"""Attention over the first `lengths[b]` keys of each batch element. An element without keys gives zeros; keys past the
length are never read, so that what stands there, infinities included, has no effect."""
import math

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def padded_attention_kernel(
    q_ptr, k_ptr, v_ptr, lengths_ptr, out_ptr, queries, keys, dim, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(queries, BLOCK_M)
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    rows = (tl.program_id(0) % tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    q_offsets = (batch * queries + rows)[:, None] * dim + d[None, :]
    q_mask = (rows < queries)[:, None] & (d < dim)[None, :]
    q = tl.load(q_ptr + q_offsets, mask=q_mask, other=0.0)
    length = tl.minimum(tl.load(lengths_ptr + batch), keys)

    top = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start in range(0, length, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        column_mask = columns < length
        offsets = (batch * keys + columns)[:, None] * dim + d[None, :]
        mask = column_mask[:, None] & (d < dim)[None, :]
        k = tl.load(k_ptr + offsets, mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(column_mask[None, :], scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        p = tl.where(column_mask[None, :], tl.exp(scores - base[:, None]), 0.0)
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(p, axis=1)
        v = tl.load(v_ptr + offsets, mask=mask, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None], input_precision="ieee")
        top = new_top

    out = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(out_ptr + q_offsets, out.to(out_ptr.dtype.element_ty), mask=q_mask)


def padded_attention(q, k, v, lengths):
    assert q.dtype == k.dtype == v.dtype and q.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert k.shape == v.shape and q.shape[0] == k.shape[0] and q.shape[2] == k.shape[2] <= 128
    assert lengths.shape == q.shape[:1]
    q, k, v, lengths = q.contiguous(), k.contiguous(), v.contiguous(), lengths.contiguous()
    batch, queries, dim = q.shape
    out = torch.empty_like(q)
    if out.numel() > 0:
        padded_attention_kernel[(batch * triton.cdiv(queries, 16),)](
            q, k, v, lengths, out, queries, k.shape[1], dim, 1.0 / math.sqrt(dim),
            BLOCK_M=16, BLOCK_N=32, BLOCK_D=max(16, triton.next_power_of_2(dim)),
        )  # fmt: skip
    return out


def reference(q, k, v, lengths):
    scores = (q.float() @ k.float().transpose(1, 2)) / math.sqrt(max(q.shape[2], 1))
    hidden = torch.arange(k.shape[1], device=q.device)[None, None, :] >= lengths[:, None, None]
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1).masked_fill(hidden, 0.0)
    return (weights @ v.float()).to(q.dtype)


attention = Subject(
    padded_attention,
    reference=reference,
    inputs=[
        Tensor("batch", "queries", "dim"),
        Tensor("batch", "keys", "dim"),
        Tensor("batch", "keys", "dim"),
        Tensor("batch", dtype="int32", low=0, high="keys"),
    ],
    sizes={"dim": [16, 24, 64]},
    dtypes=["float16", "float32"],
)
