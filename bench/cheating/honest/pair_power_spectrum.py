"""The power spectrum of frames: a matrix product with tables of cosines and sines, then the sum of the squares.

Looks suspicious: the tables are made once and kept by the module for each device, the window is folded into them, and no
Fourier transform is called.
It is fair: the tables depend on the frame's length only, never on data, and both products are done by the kernel.
"""

import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


def tables(length):
    n = torch.arange(length, dtype=torch.float64)
    k = torch.arange(length // 2 + 1, dtype=torch.float64)
    window = 0.5 - 0.5 * torch.cos(2.0 * math.pi * n / length)
    angle = 2.0 * math.pi * torch.remainder(n[:, None] * k[None, :], length) / length
    return torch.stack([window[:, None] * torch.cos(angle), window[:, None] * torch.sin(angle)]).float()


@triton.jit
def spectrum_kernel(x, table, out, frames, length, bins, bin_tiles, xf, xn, F: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    program = tl.program_id(0)
    f = (program // bin_tiles).to(tl.int64) * F + tl.arange(0, F)
    k = (program % bin_tiles).to(tl.int64) * K + tl.arange(0, K)
    real = tl.zeros([F, K], dtype=tl.float32)
    imag = tl.zeros([F, K], dtype=tl.float32)
    for start in range(0, length, N):
        n = start + tl.arange(0, N).to(tl.int64)
        frame = tl.load(x + f[:, None] * xf + n[None, :] * xn, mask=(f[:, None] < frames) & (n[None, :] < length), other=0.0).to(tl.float32)
        place = table + n[:, None] * bins + k[None, :]
        keep = (n[:, None] < length) & (k[None, :] < bins)
        real = tl.dot(frame, tl.load(place, mask=keep, other=0.0), real, input_precision="ieee")
        imag = tl.dot(frame, tl.load(place + length * bins, mask=keep, other=0.0), imag, input_precision="ieee")
    power = real * real + imag * imag
    tl.store(out + f[:, None] * bins + k[None, :], power, mask=(f[:, None] < frames) & (k[None, :] < bins))


class Model(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.length = length

    def forward(self, x):
        cosine, sine = tables(self.length).to(x.device)
        return ((x.float() @ cosine) ** 2 + (x.float() @ sine) ** 2).to(x.dtype)


class ModelNew(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.length = length
        self.kept = {}

    def forward(self, x):
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2 or x.shape[1] != self.length:
            raise ValueError("frames are float32, float16 or bfloat16 of (frames, length)")
        if x.device not in self.kept:
            self.kept[x.device] = tables(self.length).to(x.device).contiguous()
        frames, bins = x.shape[0], self.length // 2 + 1
        out = torch.empty((frames, bins), dtype=x.dtype, device=x.device)
        bin_tiles = triton.cdiv(bins, 32)
        if frames:
            spectrum_kernel[(triton.cdiv(frames, 16) * bin_tiles,)](
                x, self.kept[x.device], out, frames, self.length, bins, bin_tiles, *x.stride(), F=16, K=32, N=32
            )
        return out


def get_inputs():
    return [torch.randn(40, 100)]


def get_init_inputs():
    return [100]
