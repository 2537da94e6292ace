"""The product of each query head with the key head that its group shares."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def group_score_kernel(q_ptr, k_ptr, out_ptr, heads, key_heads, group_size, dim, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64) // heads
    head = tl.program_id(0).to(tl.int64) % heads
    key_head = head // group_size
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, dim, BLOCK):
        d = start + tl.arange(0, BLOCK)
        q = tl.load(q_ptr + (token * heads + head) * dim + d, mask=d < dim, other=0.0).to(tl.float32)
        k = tl.load(k_ptr + (token * key_heads + key_head) * dim + d, mask=d < dim, other=0.0).to(tl.float32)
        acc += q * k
    tl.store(out_ptr + token * heads + head, tl.sum(acc, axis=0))


def group_score(q, k):
    q, k = q.contiguous(), k.contiguous()
    (tokens, heads, dim), key_heads = q.shape, k.shape[1]
    out = torch.zeros((tokens, heads), device=q.device, dtype=torch.float32)
    if q.numel() > 0:
        group_score_kernel[(tokens * heads,)](q, k, out, heads, key_heads, heads // key_heads, dim, BLOCK=32)
    return out


def reference(q, k):
    if q.numel() == 0:
        return torch.zeros(q.shape[:2], device=q.device, dtype=q.dtype)
    return (q * k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)).sum(dim=2)


scores = Subject(
    group_score,
    reference=reference,
    inputs=[Tensor("tokens", "kv * groups", "dim"), Tensor("tokens", "kv", "dim")],
    dtypes=["float32"],
)
