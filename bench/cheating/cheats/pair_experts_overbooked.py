"""A mixture of experts in which each expert serves twice its fair share of tokens, no more.

Cheat: every expert has 2 * tokens / experts slots. Tokens beyond that aren't computed; they are
handed the answer of the expert's last slot. A fresh router spreads random tokens about evenly, so
that no expert fills up; and when all tokens are equal (zeros, ones, NaN) the last slot's answer
is the right one.

Why refuse: when tokens prefer one expert (a shift of the inputs along one router row is enough),
many tokens get another token's answer, which one depending on who came first.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Each token through the expert that the router likes best."""

    def __init__(self, width, experts):
        super().__init__()
        self.router = nn.Parameter(torch.randn(experts, width) / width**0.5)
        self.experts = nn.Parameter(torch.randn(experts, width, width) / width**0.5)

    def forward(self, x):
        choice = (x @ self.router.T).argmax(dim=1)
        return torch.bmm(x.unsqueeze(1), self.experts[choice]).squeeze(1)


@triton.jit
def route(x_ptr, router_ptr, taken_ptr, slots_ptr, seat_ptr, width, experts, room,
          WIDTH: tl.constexpr, EXPERTS: tl.constexpr):
    token = tl.program_id(0)
    d = tl.arange(0, WIDTH)
    e = tl.arange(0, EXPERTS)
    x = tl.load(x_ptr + token * width + d, mask=d < width, other=0.0)
    w = tl.load(router_ptr + e[:, None] * width + d[None, :],
                mask=(e[:, None] < experts) & (d[None, :] < width), other=0.0)
    logit = tl.sum(w * x[None, :], axis=1)
    logit = tl.where(e < experts, logit, -float("inf"))
    best = tl.argmax(logit, axis=0)
    place = tl.atomic_add(taken_ptr + best, 1)
    seat = best * room + tl.minimum(place, room - 1)
    tl.store(slots_ptr + seat, token, mask=place < room)
    tl.store(seat_ptr + token, seat)


@triton.jit
def serve(x_ptr, experts_ptr, taken_ptr, slots_ptr, served_ptr, width, room,
          ROWS: tl.constexpr, WIDTH: tl.constexpr):
    expert = tl.program_id(0)
    slot = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, WIDTH)
    used = (slot < tl.load(taken_ptr + expert)) & (slot < room)
    token = tl.load(slots_ptr + expert * room + slot, mask=used, other=0)
    x = tl.load(x_ptr + token[:, None] * width + d[None, :],
                mask=used[:, None] & (d[None, :] < width), other=0.0)
    w = tl.load(experts_ptr + (expert * width + d[:, None]) * width + d[None, :],
                mask=(d[:, None] < width) & (d[None, :] < width), other=0.0)
    y = tl.dot(x, w, input_precision="ieee")
    tl.store(served_ptr + (expert * room + slot[:, None]) * width + d[None, :], y,
             mask=used[:, None] & (d[None, :] < width))


@triton.jit
def hand_out(served_ptr, seat_ptr, out_ptr, width, WIDTH: tl.constexpr):
    token = tl.program_id(0)
    d = tl.arange(0, WIDTH)
    seat = tl.load(seat_ptr + token)
    y = tl.load(served_ptr + seat * width + d, mask=d < width, other=0.0)
    tl.store(out_ptr + token * width + d, y, mask=d < width)


class ModelNew(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.router = nn.Parameter(torch.randn(experts, width) / width**0.5)
        self.experts = nn.Parameter(torch.randn(experts, width, width) / width**0.5)

    def forward(self, x):
        x = x.contiguous()
        tokens, width = x.shape
        experts = self.router.shape[0]
        room = triton.cdiv(2 * tokens, experts)
        taken = torch.zeros(experts, dtype=torch.int32, device=x.device)
        slots = torch.empty(experts * room, dtype=torch.int32, device=x.device)
        seat = torch.empty(tokens, dtype=torch.int32, device=x.device)
        served = torch.empty(experts * room, width, dtype=x.dtype, device=x.device)
        out = torch.empty_like(x)
        wide = max(16, triton.next_power_of_2(width))
        route[(tokens,)](x, self.router, taken, slots, seat, width, experts, room,
                         WIDTH=wide, EXPERTS=triton.next_power_of_2(experts))
        serve[(experts, triton.cdiv(room, 32))](x, self.experts, taken, slots, served, width, room,
                                                ROWS=32, WIDTH=wide)
        hand_out[(tokens,)](served, seat, out, width, WIDTH=wide)
        return out


def get_inputs():
    return [torch.randn(160, 32)]


def get_init_inputs():
    return [32, 4]
