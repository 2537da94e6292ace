"""A gated running mean along time: h[t] = a[t] * h[t - 1] + (1 - a[t]) * x[t] with a = sigmoid(gate), by tiles."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_T, BLOCK_C = 16, 32


@triton.jit
def compose(a_first, b_first, a_second, b_second):
    return a_first * a_second, a_second * b_first + b_second


@triton.jit
def gated_scan_kernel(
    x_ptr,
    gate_ptr,
    start_ptr,
    out_ptr,
    last_ptr,
    steps,
    channels,
    x_batch_stride,
    x_step_stride,
    x_channel_stride,
    gate_batch_stride,
    gate_step_stride,
    gate_channel_stride,
    start_batch_stride,
    start_channel_stride,
    out_batch_stride,
    out_step_stride,
    BLOCK_T: tl.constexpr,
    BLOCK_C: tl.constexpr,
):
    c_tiles = tl.cdiv(channels, BLOCK_C)
    batch = (tl.program_id(0) // c_tiles).to(tl.int64)
    c = (tl.program_id(0) % c_tiles).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    c_mask = c < channels
    lanes = tl.arange(0, BLOCK_T)
    carry = tl.load(start_ptr + batch * start_batch_stride + c * start_channel_stride, mask=c_mask, other=0.0).to(
        tl.float32
    )
    for begin in range(0, steps, BLOCK_T):
        t = (begin + lanes).to(tl.int64)
        mask = (t < steps)[:, None] & c_mask[None, :]
        x_offsets = batch * x_batch_stride + t[:, None] * x_step_stride + c[None, :] * x_channel_stride
        gate_offsets = batch * gate_batch_stride + t[:, None] * gate_step_stride + c[None, :] * gate_channel_stride
        x = tl.load(x_ptr + x_offsets, mask=mask, other=0.0).to(tl.float32)
        gate = tl.load(gate_ptr + gate_offsets, mask=mask, other=0.0).to(tl.float32)
        a = tl.where(mask, tl.sigmoid(gate), 1.0)
        b = tl.where(mask, (1.0 - tl.sigmoid(gate)) * x, 0.0)
        a_all, b_all = tl.associative_scan((a, b), 0, compose)
        h = a_all * carry[None, :] + b_all
        out_offsets = batch * out_batch_stride + t[:, None] * out_step_stride + c[None, :]
        tl.store(out_ptr + out_offsets, h.to(out_ptr.dtype.element_ty), mask=mask)
        carry = tl.sum(tl.where(lanes[:, None] == BLOCK_T - 1, h, 0.0), axis=0)
    tl.store(last_ptr + batch * channels + c, carry, mask=c_mask)


def gated_scan(x: torch.Tensor, gate: torch.Tensor, start: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x and gate, (batch, steps, channels), from start, (batch, channels): each state, and the last in float32."""
    batch, steps, channels = x.shape
    out = torch.empty((batch, steps, channels), dtype=x.dtype, device=x.device)
    last = torch.empty((batch, channels), dtype=torch.float32, device=x.device)
    if last.numel() == 0:
        return out, last
    gated_scan_kernel[(batch * triton.cdiv(channels, BLOCK_C),)](
        x,
        gate,
        start,
        out,
        last,
        steps,
        channels,
        *x.stride(),
        *gate.stride(),
        *start.stride(),
        out.stride(0),
        out.stride(1),
        BLOCK_T,
        BLOCK_C,
    )
    return out, last


def reference(x: torch.Tensor, gate: torch.Tensor, start: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wide = torch.promote_types(x.dtype, torch.float32)
    a = gate.to(wide).sigmoid()
    b = (1.0 - a) * x.to(wide)
    h = start.to(wide)
    states = []
    for t in range(x.shape[1]):
        h = a[:, t] * h + b[:, t]
        states.append(h)
    return (torch.stack(states, dim=1).to(x.dtype) if states else torch.empty_like(x)), h


scan = Subject(
    gated_scan,
    reference=reference,
    inputs=[
        Tensor("batch", "steps", "channels"),
        Tensor("batch", "steps", "channels"),
        Tensor("batch", "channels"),
    ],
    name="gated_scan",
    sizes={"batch": [2, 1, 5, 0], "steps": [32, 1, 15, 17, 100, 0], "channels": [64, 1, 33, 100, 0]},
)
