"""Rounds numbers to eight bits with one shared power of two for each group of thirty-two, and gives codes, exponents
and the rounded values.

It looks suspicious: two of three outputs are int8, the third has lost most of its digits, and bits of floats are taken
for integers. It is fair: the coarse values are the format's contract, all scalings are by powers of two and hence
exact, and rounding goes to the nearest even code as in torch. A group that holds anything not finite is NaN.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        rows, width = x.shape
        groups = -(-width // 32)
        wide = torch.nn.functional.pad(x.float(), (0, groups * 32 - width)).view(rows, groups, 32)
        fine = torch.isfinite(wide).all(dim=-1)
        wide = torch.where(fine[..., None], wide, 0.0)
        # 2**exponent <= peak < 2**(exponent + 1); peaks below 2**-100 count as 2**-100.
        exponent = (torch.frexp(wide.abs().amax(dim=-1).clamp(min=2.0**-100))[1] - 1).clamp(-100, 126)
        codes = torch.ldexp(wide, (6 - exponent)[..., None]).round().clamp(-127, 127)
        values = torch.ldexp(codes, (exponent - 6)[..., None])
        values = torch.where(fine[..., None], values, float("nan"))
        flat = (rows, groups * 32)
        marks = torch.where(fine, exponent, 127).to(torch.int8)
        return codes.to(torch.int8).view(flat)[:, :width].contiguous(), marks, values.view(flat)[:, :width].contiguous()


@triton.jit
def power_of_two(exponent):
    """Exact for -126 to 127."""
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def share_kernel(x_ptr, code_ptr, mark_ptr, value_ptr, total, width, groups, BLOCK: tl.constexpr):
    group = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row = group // groups
    place = (group % groups)[:, None] * 32 + tl.arange(0, 32)[None, :]
    mask = (group < total)[:, None] & (place < width)
    at = row[:, None] * width + place
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    spoilt = tl.max((x - x != 0).to(tl.int32), axis=1) > 0
    x = tl.where(spoilt[:, None], 0.0, x)
    peak = tl.maximum(tl.max(tl.abs(x), axis=1), 7.888609052210118e-31)
    exponent = (peak.to(tl.int32, bitcast=True) >> 23) - 127
    exponent = tl.minimum(exponent, 126)
    scaled = x * power_of_two(6 - exponent)[:, None]
    # To the nearest, ties to even: beyond 2**23 a float32 has no fraction left, and |scaled| <= 256.
    magnitude = tl.abs(scaled)
    whole = tl.floor(magnitude)
    rest = magnitude - whole
    odd = (whole.to(tl.int32) & 1) == 1
    whole += tl.where((rest > 0.5) | ((rest == 0.5) & odd), 1.0, 0.0)
    code = tl.minimum(whole, 127.0)
    code = tl.where(scaled < 0, -code, code)
    value = code * power_of_two(exponent - 6)[:, None]
    value = tl.where(spoilt[:, None], float("nan"), value)
    tl.store(code_ptr + at, code.to(tl.int8), mask=mask)
    tl.store(value_ptr + at, value, mask=mask)
    tl.store(mark_ptr + group, tl.where(spoilt, 127, exponent).to(tl.int8), mask=group < total)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, width = x.shape
        groups = triton.cdiv(width, 32)
        codes = torch.empty((rows, width), dtype=torch.int8, device=x.device)
        marks = torch.empty((rows, groups), dtype=torch.int8, device=x.device)
        values = torch.empty((rows, width), dtype=torch.float32, device=x.device)
        total = rows * groups
        if total:
            share_kernel[(triton.cdiv(total, 16),)](x, codes, marks, values, total, width, groups, BLOCK=16)
        return codes, marks, values


def get_inputs():
    return [torch.randn(40, 150) * torch.rand(40, 1) * 100]


def get_init_inputs():
    return []
