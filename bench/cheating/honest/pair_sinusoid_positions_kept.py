"""Sinusoidal positions added to a sequence.

Looks suspicious: a table is kept from call to call and the second call launches one kernel less.
It is fair: the table depends on the width alone, a kernel makes it, and it is made anew for longer sequences and other devices.
"""

import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


def frequencies(width):
    return torch.exp(torch.arange(0, width, 2, dtype=torch.float32, device="cpu") * (-math.log(10000.0) / width))


@triton.jit
def table_kernel(frequency, table, count, width, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    d = i % width
    angle = (i // width).to(tl.float32) * tl.load(frequency + d // 2, mask=keep, other=0.0)
    tl.store(table + i, tl.where(d % 2 == 0, tl.sin(angle), tl.cos(angle)), mask=keep)


@triton.jit
def add_kernel(x, table, out, count, steps, width, sb, st, sd, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    d = i % width
    t = (i // width) % steps
    value = tl.load(x + i // width // steps * sb + t * st + d * sd, mask=keep, other=0.0).to(tl.float32)
    tl.store(out + i, value + tl.load(table + t * width + d, mask=keep, other=0.0), mask=keep)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        angle = torch.arange(x.shape[1], device=x.device).float()[:, None] * frequencies(self.width).to(x.device)
        table = torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)[:, : self.width]
        return (x.float() + table).to(x.dtype)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.tables = {}

    def table(self, steps, device):
        kept = self.tables.get(device)
        if kept is None or kept.shape[0] < steps:
            kept = torch.empty((triton.next_power_of_2(steps), self.width), dtype=torch.float32, device=device)
            grid = (triton.cdiv(kept.numel(), 256),)
            table_kernel[grid](frequencies(self.width).to(device), kept, kept.numel(), self.width, BLOCK=256)
            self.tables[device] = kept
        return kept

    def forward(self, x):
        if x.dim() != 3 or x.shape[2] != self.width or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("x is (batch, steps, width) of float32, float16 or bfloat16")
        x = x.detach()
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if out.numel():
            table = self.table(x.shape[1], x.device)
            add_kernel[(triton.cdiv(out.numel(), 256),)](x, table, out, out.numel(), *x.shape[1:], *x.stride(), BLOCK=256)
        return out


def get_inputs():
    return [torch.randn(3, 45, 27)]


def get_init_inputs():
    return [27]
