"""Changes the rate of signals by up/down with a windowed-sinc filter whose taps Python's math module computes.

It looks suspicious: floats from Python go to the device, a dictionary keeps them, and the kernel skips most of the
taps. It is fair: the taps hang on the constructor's arguments alone (they are the layer's constants), and the skipped
taps meet only the zeros between the samples, which nobody has to multiply.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


def design(up, down, lobes):
    widest = max(up, down)
    centre = lobes * widest
    taps = []
    for k in range(2 * centre + 1):
        t = (k - centre) / widest
        sinc = 1.0 if k == centre else math.sin(math.pi * t) / (math.pi * t)
        window = 0.5 + 0.5 * math.cos(math.pi * (k - centre) / (centre + 1))
        taps.append(sinc * window * up / widest)
    return taps, centre


class Model(nn.Module):
    def __init__(self, up, down, lobes):
        super().__init__()
        self.up, self.down = up, down
        taps, self.centre = design(up, down, lobes)
        self.taps = torch.tensor(taps)

    def forward(self, x):
        batch, length = x.shape
        stuffed = torch.zeros(batch, length * self.up, device=x.device, dtype=torch.float32)
        stuffed[:, :: self.up] = x.float()
        windows = F.pad(stuffed, (self.centre, self.centre)).unfold(-1, self.taps.numel(), self.down)
        return (windows * self.taps.to(x.device)).sum(-1).to(x.dtype)


@triton.jit
def resample_kernel(
    x_ptr, tap_ptr, out_ptr, length, out_length, up, down, centre, taps, per_phase, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = n < out_length
    # The first tap that meets a sample: k = centre - n * down, modulo up, brought into 0 .. up - 1.
    k = (centre - n * down) % up
    k = tl.where(k < 0, k + up, k)
    source = (n * down + k - centre) // up
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(0, per_phase):
        tap = k + step * up
        at = source + step
        mask = inside & (tap < taps) & (at >= 0) & (at < length)
        weight = tl.load(tap_ptr + tap, mask=mask, other=0.0)
        total += weight * tl.load(x_ptr + row * length + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * out_length + n, total.to(out_ptr.dtype.element_ty), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, up, down, lobes):
        super().__init__()
        self.up, self.down = up, down
        self.numbers, self.centre = design(up, down, lobes)
        self.kept = {}

    def forward(self, x):
        x = x.contiguous()
        batch, length = x.shape
        if x.device not in self.kept:
            self.kept[x.device] = torch.tensor(self.numbers, device=x.device)
        out_length = (length * self.up - 1) // self.down + 1
        out = torch.empty((batch, out_length), dtype=x.dtype, device=x.device)
        taps = len(self.numbers)
        if out.numel():
            resample_kernel[(batch, triton.cdiv(out_length, 128))](
                x, self.kept[x.device], out, length, out_length, self.up, self.down, self.centre, taps,
                triton.cdiv(taps, self.up), BLOCK=128,
            )  # fmt: skip
        return out


def get_inputs():
    return [torch.randn(6, 441)]


def get_init_inputs():
    return [8, 5, 4]
