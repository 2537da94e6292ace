"""Attention that gives the log-sum-exp of each query as well. P is rounded to V's dtype before the second product, as
FlashAttention does, and the reference computes in float32."""
import math

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, queries, keys, dim, scale, tiles,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    head = (pid // tiles).to(tl.int64)
    rows = (pid % tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    row_mask = rows < queries
    d_mask = d < dim
    q_ptr += head * queries * dim
    out_ptr += head * queries * dim
    k_ptr += head * keys * dim
    v_ptr += head * keys * dim
    q_offsets = rows.to(tl.int64)[:, None] * dim + d[None, :]
    q_mask = row_mask[:, None] & d_mask[None, :]
    q = tl.load(q_ptr + q_offsets, mask=q_mask, other=0.0)

    top = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start in range(0, keys, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        column_mask = columns < keys
        offsets = columns.to(tl.int64)[:, None] * dim + d[None, :]
        mask = column_mask[:, None] & d_mask[None, :]
        k = tl.load(k_ptr + offsets, mask=mask, other=0.0)
        v = tl.load(v_ptr + offsets, mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(column_mask[None, :], scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        p = tl.where(column_mask[None, :], tl.exp(scores - base[:, None]), 0.0)
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        top = new_top

    out = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(out_ptr + q_offsets, out.to(out_ptr.dtype.element_ty), mask=q_mask)
    lse = tl.where(total == 0.0, float("-inf"), top + tl.log(tl.where(total == 0.0, 1.0, total)))
    tl.store(lse_ptr + head * queries + rows, lse, mask=row_mask)


def attention_with_lse(q, k, v):
    assert q.dtype == k.dtype == v.dtype and q.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert k.shape == v.shape and q.shape[:2] == k.shape[:2] and q.shape[3] == k.shape[3] <= 256
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    batch, heads, queries, dim = q.shape
    keys = k.shape[2]
    out = torch.empty_like(q)
    lse = torch.empty((batch, heads, queries), device=q.device, dtype=torch.float32)
    tiles = triton.cdiv(queries, 32)
    if lse.numel() > 0:
        attention_kernel[(tiles * batch * heads,)](
            q, k, v, out, lse, queries, keys, dim, 1.0 / math.sqrt(max(dim, 1)), tiles,
            BLOCK_M=32, BLOCK_N=32, BLOCK_D=max(16, triton.next_power_of_2(dim)),
        )  # fmt: skip
    return out, lse


def reference(q, k, v):
    scores = (q.float() @ k.float().transpose(-1, -2)) / math.sqrt(max(q.shape[-1], 1))
    out = torch.softmax(scores, dim=-1) @ v.float()
    return out.to(q.dtype), torch.logsumexp(scores, dim=-1)


attention = Subject(
    attention_with_lse,
    reference=reference,
    inputs=[
        Tensor("batch", "heads", "queries", "dim"),
        Tensor("batch", "heads", "keys", "dim"),
        Tensor("batch", "heads", "keys", "dim"),
    ],
    sizes={"dim": [16, 40, 64]},
    dtypes=["float16", "bfloat16", "float32"],
)
