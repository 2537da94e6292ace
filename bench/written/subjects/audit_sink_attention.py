"""Causal attention over a sliding window of keys, with a learned sink per head that takes weight and gives nothing.

Query heads share a head of keys and values, in groups; each program has one step of one group."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Size, Subject, Tensor

GROUP = 4


@triton.autotune(
    configs=[triton.Config({"BLOCK": 16}, num_warps=2), triton.Config({"BLOCK": 32}, num_warps=4)],
    key=["window", "dim"],
)
@triton.jit
def sink_attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    sinks_ptr,
    out_ptr,
    kv_heads,
    steps,
    dim,
    window,
    scale,
    q_batch_stride,
    q_head_stride,
    q_step_stride,
    q_dim_stride,
    k_batch_stride,
    k_head_stride,
    k_step_stride,
    k_dim_stride,
    v_batch_stride,
    v_head_stride,
    v_step_stride,
    v_dim_stride,
    sinks_stride,
    GROUP: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    step = program % steps
    batch = program // steps // kv_heads
    kv_head = program // steps % kv_heads
    heads = kv_head * GROUP + tl.arange(0, GROUP)
    d = tl.arange(0, BLOCK_D).to(tl.int64)
    d_mask = d < dim

    q_rows = q_ptr + batch * q_batch_stride + heads * q_head_stride + step * q_step_stride
    q = tl.load(q_rows[:, None] + d[None, :] * q_dim_stride, mask=d_mask[None, :], other=0.0).to(tl.float32) * scale
    k_base = k_ptr + batch * k_batch_stride + kv_head * k_head_stride
    v_base = v_ptr + batch * v_batch_stride + kv_head * v_head_stride

    top = tl.load(sinks_ptr + heads * sinks_stride).to(tl.float32)
    total = tl.where(top == float("-inf"), 0.0, 1.0)
    acc = tl.zeros((GROUP, BLOCK_D), tl.float32)
    for start in range(tl.maximum(step - window + 1, 0), step + 1, BLOCK):
        at = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        at_mask = at <= step
        mask = at_mask[:, None] & d_mask[None, :]
        k = tl.load(k_base + at[:, None] * k_step_stride + d[None, :] * k_dim_stride, mask=mask, other=0.0)
        v = tl.load(v_base + at[:, None] * v_step_stride + d[None, :] * v_dim_stride, mask=mask, other=0.0)
        scores = tl.sum(q[:, None, :] * k.to(tl.float32)[None, :, :], axis=2)
        scores = tl.where(at_mask[None, :], scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        weights = tl.exp(scores - base[:, None])
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + tl.sum(weights[:, :, None] * v.to(tl.float32)[None, :, :], axis=1)
        top = new_top

    rows = (batch * kv_heads * GROUP + heads) * steps + step
    out = acc / total[:, None]
    tl.store(out_ptr + rows[:, None] * dim + d[None, :], out.to(out_ptr.dtype.element_ty), mask=d_mask[None, :])


def sink_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor, window: int) -> torch.Tensor:
    """q, (batch, 4 * kv_heads, steps, dim), over the last window steps of k and v, (batch, kv_heads, steps, dim),
    its own step among them; sinks, (4 * kv_heads), are logits."""
    batch, heads, steps, dim = q.shape
    if k.shape != (batch, heads // GROUP, steps, dim) or v.shape != k.shape or heads % GROUP or window < 1:
        raise ValueError("wants 4 query heads for each of the keys, as many steps, and a window of at least 1")
    out = torch.empty((batch, heads, steps, dim), dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    sink_attention_kernel[(batch * heads // GROUP * steps,)](
        q,
        k,
        v,
        sinks,
        out,
        heads // GROUP,
        steps,
        dim,
        window,
        dim**-0.5,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        sinks.stride(0),
        GROUP=GROUP,
        BLOCK_D=triton.next_power_of_2(dim),
    )
    return out


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor, window: int) -> torch.Tensor:
    if q.numel() == 0:
        return torch.empty_like(q)
    wide = torch.promote_types(q.dtype, torch.float32)
    batch, heads, steps, dim = q.shape
    window = min(window, steps)
    queries = q.to(wide).reshape(batch, heads // GROUP, GROUP, steps, dim)
    keys, values = (F.pad(one.to(wide), (0, 0, window - 1, 0)).unfold(2, window, 1) for one in (k, v))
    scores = torch.einsum("bhgsd,bhsdw->bhgsw", queries, keys) * dim**-0.5
    at = torch.arange(steps, device=q.device)[:, None] + torch.arange(window, device=q.device) - window + 1
    scores = scores.masked_fill(at < 0, float("-inf"))
    logits = sinks.to(wide).reshape(1, heads // GROUP, GROUP, 1, 1).expand(batch, -1, -1, steps, 1)
    weights = torch.softmax(torch.cat((logits, scores), dim=-1), dim=-1)[..., 1:]
    return torch.einsum("bhgsw,bhsdw->bhgsd", weights, values).reshape(q.shape).to(q.dtype)


attention = Subject(
    sink_attention,
    reference=reference,
    inputs=[
        Tensor("batch", "4 * kv_heads", "steps", "dim"),
        Tensor("batch", "kv_heads", "steps", "dim"),
        Tensor("batch", "kv_heads", "steps", "dim"),
        Tensor("4 * kv_heads"),
        Size("window"),
    ],
    name="sink_attention",
    sizes={
        "batch": [1, 2, 3, 0],
        "kv_heads": [2, 1, 3],
        "steps": [33, 1, 15, 70],
        "dim": [32, 1, 20, 64],
        "window": [20, 1, 16, 33, 200],
    },
)
