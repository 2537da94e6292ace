"""Root-mean-square normalisation of every head of the queries and the keys before attention, both in one launch.

The queries have `heads` heads and the keys `kv_heads`, any two numbers; each has its own weight. Programs walk over
the rows (batch, token, head) of both with a fixed stride, so that few programs serve many rows.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

EPS = 1e-6
PROGRAMS = 64
BLOCK = 64


@triton.jit
def qk_kernel(q, k, qw, kw, q_out, k_out, rows, tokens, heads, kv_heads, width, qb, qt, qh, qd, kb, kt, kh, kd, qws, kws,
              EPS: tl.constexpr, BLOCK: tl.constexpr):
    both = heads + kv_heads
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        head = (row % both).to(tl.int64)
        token = (row // both % tokens).to(tl.int64)
        batch = (row // both // tokens).to(tl.int64)
        place = batch * tokens + token
        query = head < heads
        own = tl.where(query, head, head - heads)
        x = tl.where(query, q + batch * qb + token * qt + own * qh, k + batch * kb + token * kt + own * kh)
        out = tl.where(query, q_out + (place * heads + own) * width, k_out + (place * kv_heads + own) * width)
        weight = tl.where(query, qw, kw)
        xs = tl.where(query, qd, kd)
        ws = tl.where(query, qws, kws)
        squares = tl.zeros([BLOCK], dtype=tl.float32)
        for start in range(0, width, BLOCK):
            lane = start + tl.arange(0, BLOCK).to(tl.int64)
            value = tl.load(x + lane * xs, mask=lane < width, other=0.0).to(tl.float32)
            squares += value * value
        mean = tl.sum(squares, axis=0) / width
        rstd = 1.0 / tl.sqrt(mean + EPS)
        for start in range(0, width, BLOCK):
            lane = start + tl.arange(0, BLOCK).to(tl.int64)
            value = tl.load(x + lane * xs, mask=lane < width, other=0.0).to(tl.float32)
            scale = tl.load(weight + lane * ws, mask=lane < width, other=0.0).to(tl.float32)
            tl.store(out + lane, value * rstd * scale, mask=lane < width)


def qk_head_norm(q, k, q_weight, k_weight):
    tensors = (q, k, q_weight, k_weight)
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16) or any(t.dtype != q.dtype for t in tensors):
        raise ValueError("qk_head_norm takes four tensors of float32, float16 or bfloat16")
    if any(t.device != q.device for t in tensors):
        raise ValueError("qk_head_norm takes tensors of one device")
    if q.dim() != 4 or k.dim() != 4 or q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError("qk_head_norm takes (batch, tokens, heads, width), the keys with their own number of heads")
    batch, tokens, heads, width = q.shape
    kv_heads = k.shape[2]
    if q_weight.shape != (width,) or k_weight.shape != (width,):
        raise ValueError("qk_head_norm takes weights of (width,)")
    rows = batch * tokens * (heads + kv_heads)
    if rows >= 2**31 - PROGRAMS:
        raise ValueError("qk_head_norm takes fewer than 2**31 rows")
    q_out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    k_out = torch.empty(k.shape, dtype=k.dtype, device=k.device)
    if rows and width:
        qk_kernel[(min(rows, PROGRAMS),)](
            q, k, q_weight, k_weight, q_out, k_out, rows, tokens, heads, kv_heads, width,
            *q.stride(), *k.stride(), q_weight.stride(0), k_weight.stride(0), EPS=EPS, BLOCK=BLOCK,
        )
    return q_out, k_out


def reference(q, k, q_weight, k_weight):
    def norm(x, weight):
        x32 = x.float()
        mean = (x32 * x32).mean(-1, keepdim=True)
        return (x32 * (1.0 / torch.sqrt(mean + EPS)) * weight.float()).to(x.dtype)

    return norm(q, q_weight), norm(k, k_weight)


normed = Subject(
    qk_head_norm,
    reference=reference,
    inputs=[Tensor("batch", "tokens", "heads", "width"), Tensor("batch", "tokens", "kv_heads", "width"), Tensor("width"), Tensor("width")],
)
