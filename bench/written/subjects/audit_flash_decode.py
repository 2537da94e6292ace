"""Attention of one query for each head over the first keys of a cache, which programs share: each its split of the
keys, and then one for each head that combines them. Two query heads share a head of keys."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

GROUP = 2
SPLITS = 4
BLOCK = 16


@triton.jit
def split_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    lengths_ptr,
    acc_ptr,
    top_ptr,
    total_ptr,
    heads,
    keys,
    dim,
    scale,
    q_batch_stride,
    q_head_stride,
    q_dim_stride,
    k_batch_stride,
    k_head_stride,
    k_key_stride,
    k_dim_stride,
    v_batch_stride,
    v_head_stride,
    v_key_stride,
    v_dim_stride,
    GROUP: tl.constexpr,
    SPLITS: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    split = tl.program_id(0) % SPLITS
    row = (tl.program_id(0) // SPLITS).to(tl.int64)
    batch = row // heads
    head = row % heads
    kv_head = head // GROUP
    length = tl.minimum(tl.load(lengths_ptr + batch), keys)
    share = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK) * BLOCK
    begin = split * share
    end = tl.minimum(begin + share, length)

    d = tl.arange(0, BLOCK_D).to(tl.int64)
    d_mask = d < dim
    q_offsets = batch * q_batch_stride + head * q_head_stride + d * q_dim_stride
    q = tl.load(q_ptr + q_offsets, mask=d_mask, other=0.0).to(tl.float32) * scale
    k_base = k_ptr + batch * k_batch_stride + kv_head * k_head_stride
    v_base = v_ptr + batch * v_batch_stride + kv_head * v_head_stride

    top = float("-inf")
    total = 0.0
    acc = tl.zeros((BLOCK_D,), tl.float32)
    for start in range(begin, end, BLOCK):
        at = (start + tl.arange(0, BLOCK)).to(tl.int64)
        at_mask = at < end
        mask = at_mask[:, None] & d_mask[None, :]
        k = tl.load(k_base + at[:, None] * k_key_stride + d[None, :] * k_dim_stride, mask=mask, other=0.0)
        scores = tl.sum(q[None, :] * k.to(tl.float32), axis=1)
        scores = tl.where(at_mask, scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=0))
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        weights = tl.exp(scores - base)
        shrink = tl.exp(top - base)
        v = tl.load(v_base + at[:, None] * v_key_stride + d[None, :] * v_dim_stride, mask=mask, other=0.0)
        acc = acc * shrink + tl.sum(weights[:, None] * v.to(tl.float32), axis=0)
        total = total * shrink + tl.sum(weights, axis=0)
        top = new_top

    slot = row * SPLITS + split
    tl.store(acc_ptr + slot * dim + d, acc, mask=d_mask)
    tl.store(top_ptr + slot, top)
    tl.store(total_ptr + slot, total)


@triton.jit
def combine_kernel(
    acc_ptr,
    top_ptr,
    total_ptr,
    lengths_ptr,
    out_ptr,
    lse_ptr,
    heads,
    dim,
    SPLITS: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths_ptr + row // heads)
    splits = tl.arange(0, SPLITS)
    d = tl.arange(0, BLOCK_D).to(tl.int64)
    d_mask = d < dim
    slots = row * SPLITS + splits
    tops = tl.load(top_ptr + slots)
    totals = tl.load(total_ptr + slots)
    top = tl.max(tops, axis=0)
    base = tl.where(top == float("-inf"), 0.0, top)
    shares = tl.exp(tops - base)
    total = tl.sum(totals * shares, axis=0)
    parts = tl.load(acc_ptr + slots[:, None] * dim + d[None, :], mask=d_mask[None, :], other=0.0)
    out = tl.sum(parts * shares[:, None], axis=0) / total
    out = tl.where(length > 0, out, 0.0)
    tl.store(out_ptr + row * dim + d, out.to(out_ptr.dtype.element_ty), mask=d_mask)
    tl.store(lse_ptr + row, base + tl.log(total))


def flash_decode(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """q, (batch, heads, dim), over k and v, (batch, heads // 2, keys, dim): what they give, and log-sum-exp."""
    batch, heads, dim = q.shape
    keys = k.shape[2]
    lengths = lengths.contiguous()
    out = torch.empty((batch, heads, dim), dtype=q.dtype, device=q.device)
    lse = torch.empty((batch, heads), dtype=torch.float32, device=q.device)
    if out.numel() == 0:
        return out, lse.fill_(float("-inf"))
    acc = torch.empty((batch, heads, SPLITS, dim), dtype=torch.float32, device=q.device)
    top = torch.empty((batch, heads, SPLITS), dtype=torch.float32, device=q.device)
    total = torch.empty_like(top)
    block_d = triton.next_power_of_2(dim)
    split_kernel[(batch * heads * SPLITS,)](
        q,
        k,
        v,
        lengths,
        acc,
        top,
        total,
        heads,
        keys,
        dim,
        dim**-0.5,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        GROUP,
        SPLITS,
        BLOCK,
        block_d,
    )
    combine_kernel[(batch * heads,)](acc, top, total, lengths, out, lse, heads, dim, SPLITS, block_d)
    return out, lse


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    wide = q.to(torch.promote_types(q.dtype, torch.float32))
    k, v = (one.to(wide.dtype).repeat_interleave(GROUP, dim=1) for one in (k, v))
    scores = torch.einsum("bhd,bhkd->bhk", wide, k) * q.shape[2] ** -0.5
    hidden = torch.arange(k.shape[2], device=q.device)[None, None, :] >= lengths[:, None, None]
    scores = scores.masked_fill(hidden, float("-inf"))
    lse = torch.logsumexp(scores, dim=-1) if k.shape[2] else scores.new_full(q.shape[:2], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(hidden, 0.0)
    values = v.masked_fill(hidden[..., None], 0.0)
    return torch.einsum("bhk,bhkd->bhd", weights, values).to(q.dtype), lse


attention = Subject(
    flash_decode,
    reference=reference,
    inputs=[
        Tensor("batch", "2 * kv_heads", "dim"),
        Tensor("batch", "kv_heads", "keys", "dim"),
        Tensor("batch", "kv_heads", "keys", "dim"),
        Tensor("batch", dtype="int32", low=0, high="keys"),
    ],
    name="flash_decode",
    sizes={
        "batch": [2, 1, 5, 0],
        "kv_heads": [2, 1, 3],
        "keys": [100, 1, 16, 64, 257, 65],
        "dim": [64, 16, 40, 1, 128],
    },
)
