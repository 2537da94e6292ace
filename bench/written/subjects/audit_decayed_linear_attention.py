"""Linear attention with a decay for each head: state = gate * state + outer(k, v), output = q times the state, token by token.

gate = sigmoid(decay[head]). Each program carries a slice of the state of one head through all tokens in float32, and
the final state is returned beside the output, for the next piece of the sequence.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_V = 16


@triton.jit
def recurrence_kernel(q, k, v, decay, out, final, heads, steps, dk, dv, v_tiles, qb, qh, qt, qd, kb, kh, kt, kd, vb, vh, vt, vd, ds,
                      BLOCK_K: tl.constexpr, BLOCK_V: tl.constexpr):
    program = tl.program_id(0)
    lane = (program % v_tiles).to(tl.int64) * BLOCK_V + tl.arange(0, BLOCK_V)
    head = (program // v_tiles % heads).to(tl.int64)
    batch = (program // v_tiles // heads).to(tl.int64)
    row = tl.arange(0, BLOCK_K).to(tl.int64)
    real = (row[:, None] < dk) & (lane[None, :] < dv)
    gate = tl.sigmoid(tl.load(decay + head * ds).to(tl.float32))
    q_at = q + batch * qb + head * qh + row * qd
    k_at = k + batch * kb + head * kh + row * kd
    v_at = v + batch * vb + head * vh + lane * vd
    out_at = out + (batch * heads + head) * steps * dv + lane
    state = tl.zeros([BLOCK_K, BLOCK_V], dtype=tl.float32)
    for t in range(0, steps):
        key = tl.load(k_at, mask=row < dk, other=0.0).to(tl.float32)
        value = tl.load(v_at, mask=lane < dv, other=0.0).to(tl.float32)
        query = tl.load(q_at, mask=row < dk, other=0.0).to(tl.float32)
        state = tl.where(real, gate * state + key[:, None] * value[None, :], 0.0)
        tl.store(out_at, tl.sum(query[:, None] * state, axis=0), mask=lane < dv)
        q_at += qt
        k_at += kt
        v_at += vt
        out_at += dv
    place = (batch * heads + head) * dk * dv + row[:, None] * dv + lane[None, :]
    tl.store(final + place, state, mask=real)


def decayed_linear_attention(q, k, v, decay):
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16) or any(t.dtype != q.dtype for t in (k, v, decay)):
        raise ValueError("decayed_linear_attention takes four tensors of float32, float16 or bfloat16")
    if q.dim() != 4 or k.shape != q.shape or v.dim() != 4 or v.shape[:3] != q.shape[:3] or decay.shape != q.shape[1:2]:
        raise ValueError("decayed_linear_attention takes q and k of (batch, heads, steps, dk), v with dv, and (heads,)")
    if any(t.device != q.device for t in (k, v, decay)):
        raise ValueError("decayed_linear_attention takes tensors of one device")
    batch, heads, steps, dk = q.shape
    dv = v.shape[3]
    if dk > 256:
        raise ValueError("decayed_linear_attention takes keys of up to 256 channels")
    out = torch.zeros(v.shape, dtype=v.dtype, device=v.device)
    final = torch.zeros((batch, heads, dk, dv), dtype=torch.float32, device=v.device)
    v_tiles = triton.cdiv(dv, BLOCK_V)
    if steps and dk and batch * heads * v_tiles:
        recurrence_kernel[(batch * heads * v_tiles,)](
            q, k, v, decay, out, final, heads, steps, dk, dv, v_tiles,
            *q.stride(), *k.stride(), *v.stride(), decay.stride(0),
            BLOCK_K=triton.next_power_of_2(dk), BLOCK_V=BLOCK_V, num_warps=4,
        )
    return out, final


def reference(q, k, v, decay):
    batch, heads, steps, dk = q.shape
    state = torch.zeros((batch, heads, dk, v.shape[3]), dtype=torch.float32, device=v.device)
    gate = torch.sigmoid(decay.float())[None, :, None, None]
    outs = torch.zeros(v.shape, dtype=torch.float32, device=v.device)
    for t in range(steps):
        state = gate * state + k[:, :, t].float()[..., :, None] * v[:, :, t].float()[..., None, :]
        outs[:, :, t] = (q[:, :, t].float()[..., :, None] * state).sum(-2)
    return outs.to(v.dtype), state


attended = Subject(
    decayed_linear_attention,
    reference=reference,
    inputs=[
        Tensor("batch", "heads", "steps", "dk"),
        Tensor("batch", "heads", "steps", "dk"),
        Tensor("batch", "heads", "steps", "dv"),
        Tensor("heads"),
    ],
    sizes={"dk": [4, 16, 24], "dv": [5, 16, 40]},
)
