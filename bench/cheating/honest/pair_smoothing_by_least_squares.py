"""Smooths signals as Savitzky and Golay do: each sample becomes the middle of a parabola fitted to seven samples.

It looks suspicious: the taps come from exact fractions in Python, and are kept in a dictionary of the module from the
first call on, so that later calls copy less than the first. It is fair: only the seven constants are kept, one tensor
for each device; they depend on no input and nobody writes to them, and every call smooths what it is given.
"""

from fractions import Fraction

import torch
import torch.nn as nn
import triton
import triton.language as tl

REACH = 3
TAPS = {}


class Model(nn.Module):
    def forward(self, x):
        n = x.shape[1]
        taps = torch.tensor([-2.0, 3.0, 6.0, 7.0, 6.0, 3.0, -2.0], device=x.device) / 21
        around = torch.arange(n, device=x.device)[:, None] + torch.arange(-REACH, REACH + 1, device=x.device)
        return (x.float()[:, around.clamp(0, max(n - 1, 0))] * taps).sum(dim=-1).to(x.dtype)


def taps_of_parabola():
    offsets = range(-REACH, REACH + 1)
    count, second, fourth = (sum(Fraction(k) ** power for k in offsets) for power in (0, 2, 4))
    return [float((fourth - second * k * k) / (count * fourth - second * second)) for k in offsets]


def taps_on(device):
    if device not in TAPS:
        TAPS[device] = torch.tensor(taps_of_parabola(), dtype=torch.float32, device=device)
    return TAPS[device]


@triton.jit
def smooth_kernel(
    x_ptr, taps_ptr, y_ptr, rows, n, row_stride, stride, REACH: tl.constexpr, BR: tl.constexpr, BN: tl.constexpr
):
    r = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    for start in range(0, n, BN):
        at = start + tl.arange(0, BN).to(tl.int64)
        mask = (r < rows)[:, None] & (at < n)[None, :]
        total = tl.zeros((BR, BN), tl.float32)
        for k in range(2 * REACH + 1):
            source = tl.minimum(tl.maximum(at + (k - REACH), 0), n - 1)
            x = tl.load(x_ptr + r[:, None] * row_stride + source[None, :] * stride, mask=mask, other=0.0)
            total += x.to(tl.float32) * tl.load(taps_ptr + k)
        tl.store(y_ptr + r[:, None] * n + at[None, :], total.to(y_ptr.dtype.element_ty), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.ndim != 2 or x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("a matrix of float32, float16 or bfloat16")
        rows, n = x.shape
        y = torch.empty((rows, n), dtype=x.dtype, device=x.device)
        if y.numel():
            smooth_kernel[(triton.cdiv(rows, 8),)](
                x, taps_on(x.device), y, rows, n, *x.stride(), REACH=REACH, BR=8, BN=128
            )
        return y


def get_inputs():
    return [torch.randn(30, 400)]


def get_init_inputs():
    return []
