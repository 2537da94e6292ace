"""The mean affinity exp(-|x - y|^2 / 2d) over all pairs of rows of two samples, as two-sample tests need it.

It looks suspicious: the host cuts the first sample into chunks and launches for each, all programs of all launches
add to one float64 number by atomics, whose order nobody knows, and torch divides in the end. It is fair: the chunks
keep the grid within what a device takes, sums in float64 differ by far less than float32 shows, and torch divides one
number.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

CHUNK = 4096


class Model(nn.Module):
    def forward(self, x, y):
        wide = x.double()[:, None, :] - y.double()[None, :, :]
        return torch.exp(wide.square().sum(dim=-1) / (-2 * max(x.shape[1], 1))).mean().float()


@triton.jit
def affinity_kernel(
    x_ptr,
    y_ptr,
    total_ptr,
    m,
    n,
    d,
    x_row,
    x_col,
    y_row,
    y_col,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BD: tl.constexpr,
):
    rm = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    rn = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    distance = tl.zeros((BM, BN), tl.float32)
    for start in range(0, d, BD):
        c = start + tl.arange(0, BD).to(tl.int64)
        x_mask = (rm < m)[:, None] & (c < d)[None, :]
        y_mask = (rn < n)[:, None] & (c < d)[None, :]
        x = tl.load(x_ptr + rm[:, None] * x_row + c[None, :] * x_col, mask=x_mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + rn[:, None] * y_row + c[None, :] * y_col, mask=y_mask, other=0.0).to(tl.float32)
        away = x[:, None, :] - y[None, :, :]
        distance += tl.sum(away * away, axis=2)
    affinity = tl.where((rm < m)[:, None] & (rn < n)[None, :], tl.exp(-distance * scale), 0.0).to(tl.float64)
    tl.atomic_add(total_ptr, tl.sum(tl.sum(affinity, axis=1), axis=0))


class ModelNew(nn.Module):
    def forward(self, x, y):
        if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
            raise ValueError("two matrices with the same columns")
        if any(z.dtype not in (torch.float32, torch.float16, torch.bfloat16) for z in (x, y)):
            raise ValueError("float32, float16 or bfloat16")
        (m, d), n = x.shape, y.shape[0]
        total = torch.zeros((), dtype=torch.float64, device=x.device)
        scale = 1.0 / (2 * max(d, 1))
        for start in range(0, n, CHUNK) if m else ():
            part = y[start : start + CHUNK]
            grid = (triton.cdiv(m, 16), triton.cdiv(part.shape[0], 16))
            affinity_kernel[grid](
                x, part, total, m, part.shape[0], d, *x.stride(), *part.stride(), scale, BM=16, BN=16, BD=16
            )
        return (total / (m * n)).float()


def get_inputs():
    return [torch.randn(100, 40), torch.randn(75, 40) + 0.25]


def get_init_inputs():
    return []
