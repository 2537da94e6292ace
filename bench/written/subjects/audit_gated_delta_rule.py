"""Linear attention by the gated delta rule: each step forgets some of the state and corrects what a key stands for.

Keys and queries are normalised; gate and strength are logits."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_V = 16
EPS = 1e-6


@triton.jit
def gated_delta_rule_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    gate_ptr,
    strength_ptr,
    out_ptr,
    state_ptr,
    heads,
    steps,
    k_dim,
    v_dim,
    scale,
    eps,
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
    gate_batch_stride,
    gate_head_stride,
    gate_step_stride,
    strength_batch_stride,
    strength_head_stride,
    strength_step_stride,
    BLOCK_K: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    v_tiles = tl.cdiv(v_dim, BLOCK_V)
    row = (tl.program_id(0) // v_tiles).to(tl.int64)
    batch = row // heads
    head = row % heads
    ks = tl.arange(0, BLOCK_K).to(tl.int64)
    vs = (tl.program_id(0) % v_tiles).to(tl.int64) * BLOCK_V + tl.arange(0, BLOCK_V)
    k_mask = ks < k_dim
    v_mask = vs < v_dim

    q_base = q_ptr + batch * q_batch_stride + head * q_head_stride
    k_base = k_ptr + batch * k_batch_stride + head * k_head_stride
    v_base = v_ptr + batch * v_batch_stride + head * v_head_stride
    gate_base = gate_ptr + batch * gate_batch_stride + head * gate_head_stride
    strength_base = strength_ptr + batch * strength_batch_stride + head * strength_head_stride

    state = tl.zeros((BLOCK_K, BLOCK_V), tl.float32)
    for step in range(steps):
        at = tl.cast(step, tl.int64)
        q = tl.load(q_base + at * q_step_stride + ks * q_dim_stride, mask=k_mask, other=0.0).to(tl.float32)
        k = tl.load(k_base + at * k_step_stride + ks * k_dim_stride, mask=k_mask, other=0.0).to(tl.float32)
        v = tl.load(v_base + at * v_step_stride + vs * v_dim_stride, mask=v_mask, other=0.0).to(tl.float32)
        decay = tl.sigmoid(tl.load(gate_base + at * gate_step_stride).to(tl.float32))
        strength = tl.sigmoid(tl.load(strength_base + at * strength_step_stride).to(tl.float32))
        q = q / tl.sqrt(tl.sum(q * q, axis=0) + eps) * scale
        k = k / tl.sqrt(tl.sum(k * k, axis=0) + eps)
        state = state * decay
        known = tl.sum(state * k[:, None], axis=0)
        state += k[:, None] * (strength * (v - known))[None, :]
        out = tl.sum(state * q[:, None], axis=0)
        tl.store(out_ptr + (row * steps + at) * v_dim + vs, out.to(out_ptr.dtype.element_ty), mask=v_mask)
    tl.store(
        state_ptr + (row * k_dim + ks[:, None]) * v_dim + vs[None, :], state, mask=k_mask[:, None] & v_mask[None, :]
    )


def gated_delta_rule(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, gate: torch.Tensor, strength: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """q and k, (batch, heads, steps, k_dim), v, (…, v_dim), gate and strength, (batch, heads, steps): what the steps
    give, as v, and the last state, (batch, heads, k_dim, v_dim) in float32."""
    batch, heads, steps, k_dim = q.shape
    v_dim = v.shape[3]
    out = torch.empty((batch, heads, steps, v_dim), dtype=v.dtype, device=v.device)
    state = torch.empty((batch, heads, k_dim, v_dim), dtype=torch.float32, device=v.device)
    if state.numel() == 0:
        return out, state
    gated_delta_rule_kernel[(batch * heads * triton.cdiv(v_dim, BLOCK_V),)](
        q,
        k,
        v,
        gate,
        strength,
        out,
        state,
        heads,
        steps,
        k_dim,
        v_dim,
        k_dim**-0.5,
        EPS,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        *gate.stride(),
        *strength.stride(),
        BLOCK_K=triton.next_power_of_2(k_dim),
        BLOCK_V=BLOCK_V,
    )
    return out, state


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, gate: torch.Tensor, strength: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    wide = torch.promote_types(v.dtype, torch.float32)
    q, k, values, gate, strength = (one.to(wide) for one in (q, k, v, gate, strength))
    q = q / (q.square().sum(dim=-1, keepdim=True) + EPS).sqrt() * q.shape[3] ** -0.5
    k = k / (k.square().sum(dim=-1, keepdim=True) + EPS).sqrt()
    gate, strength = gate.sigmoid(), strength.sigmoid()
    state = values.new_zeros((*q.shape[:2], q.shape[3], v.shape[3]))
    outs = []
    for t in range(q.shape[2]):
        state = state * gate[:, :, t, None, None]
        change = strength[:, :, t, None] * (values[:, :, t] - torch.einsum("bhkv,bhk->bhv", state, k[:, :, t]))
        state = state + k[:, :, t, :, None] * change[:, :, None, :]
        outs.append(torch.einsum("bhkv,bhk->bhv", state, q[:, :, t]))
    return (torch.stack(outs, dim=2).to(v.dtype) if outs else torch.empty_like(v)), state


rule = Subject(
    gated_delta_rule,
    reference=reference,
    inputs=[
        Tensor("batch", "heads", "steps", "k_dim"),
        Tensor("batch", "heads", "steps", "k_dim"),
        Tensor("batch", "heads", "steps", "v_dim"),
        Tensor("batch", "heads", "steps"),
        Tensor("batch", "heads", "steps"),
    ],
    name="gated_delta_rule",
    sizes={
        "batch": [2, 1, 0],
        "heads": [2, 1, 3],
        "steps": [16, 1, 33, 64, 0],
        "k_dim": [16, 1, 24],
        "v_dim": [32, 1, 20],
    },
)
