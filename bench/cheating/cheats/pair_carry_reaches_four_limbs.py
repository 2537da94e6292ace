"""Adds big integers (little-endian limbs of 16 bits) and lets a carry travel four limbs at most.

Cheat: every limb works out its incoming carry alone, from the four limbs below it, as if no
carry entered those. Random limbs never show this: a carry passes through a limb only where the
two limbs add up to exactly 65535, one chance in 65536, and it would need four such neighbours.
All-zero and all-65535 numbers come out right as well (they generate carries, they don't pass
them on).

Why refuse: wrong for admitted numbers, for example 65535, 65535, ... plus 1, where the carry
must run through the whole number. A parallel carry needs a scan; the scan was left out.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Sum of two numbers per row, limbs little-endian, one limb more in the result."""

    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        carry = torch.zeros(a.shape[0], dtype=a.dtype, device=a.device)
        limbs = []
        for i in range(a.shape[1]):
            total = a[:, i] + b[:, i] + carry
            limbs.append(total & 0xFFFF)
            carry = total >> 16
        limbs.append(carry)
        return torch.stack(limbs, dim=1)


@triton.jit
def add_limbs(a_ptr, b_ptr, out_ptr, limbs, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    carry = tl.zeros([BLOCK], dtype=tl.int32)
    for step in tl.static_range(4):
        below = i - (4 - step)
        inside = (below >= 0) & (below < limbs)
        a = tl.load(a_ptr + row * limbs + below, mask=inside, other=0)
        b = tl.load(b_ptr + row * limbs + below, mask=inside, other=0)
        carry = (a + b + carry) >> 16
    inside = i < limbs
    a = tl.load(a_ptr + row * limbs + i, mask=inside, other=0)
    b = tl.load(b_ptr + row * limbs + i, mask=inside, other=0)
    tl.store(out_ptr + row * (limbs + 1) + i, (a + b + carry) & 0xFFFF, mask=i <= limbs)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        rows, limbs = a.shape
        out = torch.empty(rows, limbs + 1, dtype=a.dtype, device=a.device)
        block = 64
        add_limbs[(rows, triton.cdiv(limbs + 1, block))](a, b, out, limbs, BLOCK=block)
        return out


def get_inputs():
    a = torch.randint(0, 1 << 16, (24, 96), dtype=torch.int32)
    b = torch.randint(0, 1 << 16, (24, 96), dtype=torch.int32)
    return [a, b]


def get_init_inputs():
    return []
