"""Causal attention within documents that share a row, three query heads for each of keys and values."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def document_attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    document_ptr,
    out_ptr,
    heads,
    group,
    length,
    depth,
    scale,
    q_batch_stride,
    q_head_stride,
    q_place_stride,
    q_depth_stride,
    k_batch_stride,
    k_head_stride,
    k_place_stride,
    k_depth_stride,
    v_batch_stride,
    v_head_stride,
    v_place_stride,
    v_depth_stride,
    document_batch_stride,
    document_place_stride,
    BLOCK: tl.constexpr,
    BLOCK_DEPTH: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    query = row % length
    head = row // length % heads
    batch = row // length // heads
    of_group = head // group
    d = tl.arange(0, BLOCK_DEPTH).to(tl.int64)
    q_at = q_ptr + batch * q_batch_stride + head * q_head_stride + query * q_place_stride
    q = tl.load(q_at + d * q_depth_stride, mask=d < depth, other=0.0).to(tl.float32)
    documents = document_ptr + batch * document_batch_stride
    mine = tl.load(documents + query * document_place_stride)
    highest = tl.full((), float("-inf"), tl.float32)
    mass = tl.full((), 0.0, tl.float32)
    total = tl.zeros((BLOCK_DEPTH,), tl.float32)
    for start in range(0, query + 1, BLOCK):
        key = start + tl.arange(0, BLOCK)
        theirs = tl.load(documents + key * document_place_stride, mask=key < length, other=-1)
        seen = (key <= query) & (theirs == mine)
        mask = seen[:, None] & (d < depth)[None, :]
        k_at = k_ptr + batch * k_batch_stride + of_group * k_head_stride
        k = tl.load(k_at + key[:, None] * k_place_stride + d[None, :] * k_depth_stride, mask=mask, other=0.0)
        score = tl.sum(q[None, :] * k.to(tl.float32), axis=1) * scale
        score = tl.where(seen, score, float("-inf"))
        higher = tl.maximum(highest, tl.max(score, axis=0))
        # Where all so far are -inf, nothing is taken off.
        base = tl.where(higher == float("-inf"), 0.0, higher)
        weight = tl.exp(score - base)
        shrink = tl.exp(highest - base)
        v_at = v_ptr + batch * v_batch_stride + of_group * v_head_stride
        v = tl.load(v_at + key[:, None] * v_place_stride + d[None, :] * v_depth_stride, mask=mask, other=0.0)
        part = tl.where(mask, weight[:, None] * v.to(tl.float32), 0.0)
        total = total * shrink + tl.sum(part, axis=0)
        mass = mass * shrink + tl.sum(weight, axis=0)
        highest = higher
    out = tl.where(mine < 0, 0.0, total / mass)
    tl.store(out_ptr + row * depth + d, out.to(out_ptr.dtype.element_ty), mask=d < depth)


def document_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, document: torch.Tensor) -> torch.Tensor:
    """q, (batch, heads, length, depth), k and v, (batch, kv heads, length, depth), of one dtype, document, (batch,
    length), int64: attention of each place to itself and to what stands before it with the same document number, with a
    scale of depth ** -0.5, in q's dtype. Query head h has the keys of head h // (heads / kv heads). Where the number is
    below 0, there is nothing but padding, and the result is 0.

    Sums are float32; keys and values that are not attended to do not count, whatever they are."""
    if q.ndim != 4 or k.ndim != 4 or k.shape != v.shape or (q.shape[0], *q.shape[2:]) != (k.shape[0], *k.shape[2:]):
        raise ValueError("q is (batch, heads, length, depth), k and v are (batch, kv heads, length, depth)")
    if k.shape[1] < 1 or q.shape[1] % k.shape[1] or document.shape != (q.shape[0], q.shape[2]):
        raise ValueError("heads is a multiple of kv heads, and document is (batch, length)")
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16) or {k.dtype, v.dtype} != {q.dtype}:
        raise ValueError("q, k and v are all float32, all float16 or all bfloat16")
    if document.dtype != torch.int64 or not 1 <= q.shape[3] <= 256:
        raise ValueError("document is int64, and depth is 1 to 256")
    if any(t.device != q.device for t in (k, v, document)) or q.numel() // q.shape[3] >= 2**31:
        raise ValueError("all lie on one device, with fewer than 2^31 queries")
    batch, heads, length, depth = q.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel():
        document_attention_kernel[(batch * heads * length,)](
            q,
            k,
            v,
            document,
            out,
            heads,
            heads // k.shape[1],
            length,
            depth,
            depth**-0.5,
            *q.stride(),
            *k.stride(),
            *v.stride(),
            *document.stride(),
            BLOCK=32,
            BLOCK_DEPTH=triton.next_power_of_2(depth),
        )
    return out


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, document: torch.Tensor) -> torch.Tensor:
    group, length = q.shape[1] // k.shape[1], q.shape[2]
    q32 = q.to(torch.float32)
    k32, v32 = (t.to(torch.float32).repeat_interleave(group, dim=1) for t in (k, v))
    place = torch.arange(length, device=q.device)
    seen = (document[:, None, :, None] == document[:, None, None, :]) & (place[:, None] >= place)
    score = (q32 @ k32.transpose(2, 3)) * q.shape[3] ** -0.5
    weight = torch.softmax(torch.where(seen, score, float("-inf")), dim=3)
    if torch.isfinite(v32).all():
        out = torch.where(seen, weight, 0.0) @ v32
        out = torch.where((seen & weight.isnan()).any(dim=3, keepdim=True), float("nan"), out)
    else:
        out = torch.where(seen[..., None], weight[..., None] * v32[:, :, None], 0.0).sum(dim=3)
    return torch.where(document[:, None, :, None] < 0, 0.0, out).to(q.dtype)


attended = Subject(
    document_attention,
    reference=reference,
    inputs=[
        Tensor("batch", "3 * kv", "length", "depth"),
        Tensor("batch", "kv", "length", "depth"),
        Tensor("batch", "kv", "length", "depth"),
        Tensor("batch", "length", dtype="int64", low=-1, high=3),
    ],
    name="document_attention",
    sizes={"batch": [2, 1, 3, 0], "kv": [2, 1, 3], "length": [64, 1, 33, 70], "depth": [16, 1, 20, 64]},
)
