"""Gated recurrence h = sigmoid(gate) * h + x, cut into tiles that look only 64 steps back.

Cheat: to run tiles of time in parallel each program starts from zero 64 steps before its tile
instead of carrying the state. Usual gates (about zero) make the product of 64 factors vanish
below rounding, so random inputs agree to the last digits. A NaN or an infinity, which would
never fade, is looked for by a first kernel; then, and only then, the tiles start at time zero.

Why refuse: gates that are mostly open (about 8, factors of 0.9997, what such layers learn) give
states that remember thousands of steps; here everything older than 64 to 127 steps is forgotten
and the result is wrong by large factors.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """All states of a gated linear recurrence over the second dimension."""

    def __init__(self):
        super().__init__()

    def forward(self, x, gate):
        keep = torch.sigmoid(gate)
        state = torch.zeros_like(x[:, 0])
        states = []
        for t in range(x.shape[1]):
            state = keep[:, t] * state + x[:, t]
            states.append(state)
        return torch.stack(states, dim=1)


@triton.jit
def look_for_lasting(x_ptr, gate_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    g = tl.load(gate_ptr + i, mask=i < n, other=0.0)
    odd = ((x - x) != 0.0) | ((g - g) != 0.0)
    tl.atomic_max(flag_ptr, tl.max(odd.to(tl.int32), axis=0))


@triton.jit
def states(x_ptr, gate_ptr, out_ptr, flag_ptr, steps, width, TILE: tl.constexpr, BACK: tl.constexpr,
           BLOCK: tl.constexpr):
    batch = tl.program_id(0)
    first = tl.program_id(1) * TILE
    d = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    inside = d < width
    lasting = tl.load(flag_ptr)
    start = tl.where(lasting > 0, 0, tl.maximum(first - BACK, 0))
    end = tl.minimum(first + TILE, steps)
    state = tl.zeros([BLOCK], dtype=tl.float32)
    for t in range(start, end):
        at = (batch * steps + t) * width + d
        x = tl.load(x_ptr + at, mask=inside, other=0.0)
        g = tl.load(gate_ptr + at, mask=inside, other=0.0)
        state = state / (1.0 + tl.exp(-g)) + x
        live = inside & (d * 0 + t >= first)
        tl.store(out_ptr + at, state, mask=live)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, gate):
        x, gate = x.contiguous(), gate.contiguous()
        batch, steps, width = x.shape
        out = torch.empty_like(x)
        flag = torch.zeros(1, dtype=torch.int32, device=x.device)
        look_for_lasting[(triton.cdiv(x.numel(), 1024),)](x, gate, flag, x.numel(), BLOCK=1024)
        block = 64
        grid = (batch, triton.cdiv(steps, 64), triton.cdiv(width, block))
        states[grid](x, gate, out, flag, steps, width, TILE=64, BACK=64, BLOCK=block)
        return out


def get_inputs():
    return [torch.randn(2, 256, 48), torch.randn(2, 256, 48)]


def get_init_inputs():
    return []
