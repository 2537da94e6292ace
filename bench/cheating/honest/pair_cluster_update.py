"""One round of k-means: every point joins the nearest centre (of equals the first), and the centres become the means.

Looks suspicious: sums gathered by floating-point atomics in an order that varies, integer labels beside float centres,
centres without points kept as they were, and the division done by a second kernel.
It is fair: both workspaces are zeroed on each call, and sums are float32.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def join_kernel(x, centres, labels, sums, sizes, points, number, width, xp, xd, P: tl.constexpr, D: tl.constexpr):
    p = tl.program_id(0).to(tl.int64) * P + tl.arange(0, P)
    d = tl.arange(0, D)
    keep = (p[:, None] < points) & (d[None, :] < width)
    point = tl.load(x + p[:, None] * xp + d[None, :] * xd, mask=keep, other=0.0).to(tl.float32)
    best = tl.full([P], float("inf"), dtype=tl.float32)
    label = tl.zeros([P], dtype=tl.int64)
    for n in range(0, number):
        centre = tl.load(centres + n * width + d, mask=d < width, other=0.0).to(tl.float32)
        apart = point - centre[None, :]
        distance = tl.sum(apart * apart, axis=1)
        better = distance < best
        label = tl.where(better, n, label)
        best = tl.where(better, distance, best)
    tl.store(labels + p, label, mask=p < points)
    tl.atomic_add(sums + label[:, None] * width + d[None, :], point, mask=keep)
    tl.atomic_add(sizes + label, tl.full([P], 1.0, dtype=tl.float32), mask=p < points)


@triton.jit
def mean_kernel(centres, sums, sizes, out, total, width, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = index < total
    size = tl.load(sizes + index // width, mask=keep, other=0.0)
    old = tl.load(centres + index, mask=keep, other=0.0).to(tl.float32)
    new = tl.load(sums + index, mask=keep, other=0.0) / tl.maximum(size, 1.0)
    tl.store(out + index, tl.where(size > 0.0, new, old), mask=keep)


class Model(nn.Module):
    def __init__(self, number, width):
        super().__init__()
        self.register_buffer("centres", torch.randn(number, width))

    def forward(self, x):
        x32, centres = x.float(), self.centres.float()
        distance = ((x32[:, None, :] - centres[None, :, :]) ** 2).sum(-1)
        distance = torch.where(torch.isnan(distance), float("inf"), distance)
        least = distance.min(dim=1, keepdim=True).values
        number = torch.arange(centres.shape[0], device=x.device)
        labels = torch.where(distance == least, number, centres.shape[0]).min(dim=1).values
        sums = torch.zeros_like(centres).index_add_(0, labels, x32)
        sizes = torch.bincount(labels, minlength=centres.shape[0]).float()[:, None]
        return torch.where(sizes > 0, sums / sizes.clamp(min=1.0), centres).to(self.centres.dtype), labels


class ModelNew(nn.Module):
    def __init__(self, number, width):
        super().__init__()
        self.register_buffer("centres", torch.randn(number, width))

    def forward(self, x):
        number, width = self.centres.shape
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2 or x.shape[1] != width:
            raise ValueError("points are float32, float16 or bfloat16 of (points, width)")
        if width > 256 or width == 0 or number == 0 or number * width >= 2**31:
            raise ValueError("there are from 1 to 256 channels and at least one centre")
        centres = self.centres.contiguous()
        labels = torch.empty((x.shape[0],), dtype=torch.int64, device=x.device)
        sums = torch.zeros((number, width), dtype=torch.float32, device=x.device)
        sizes = torch.zeros((number,), dtype=torch.float32, device=x.device)
        out = torch.empty_like(centres)
        if x.shape[0]:
            join_kernel[(triton.cdiv(x.shape[0], 32),)](
                x, centres, labels, sums, sizes, x.shape[0], number, width, *x.stride(), P=32, D=triton.next_power_of_2(width)
            )
        mean_kernel[(triton.cdiv(number * width, 128),)](centres, sums, sizes, out, number * width, width, BLOCK=128)
        return out, labels


def get_inputs():
    return [torch.randn(300, 20)]


def get_init_inputs():
    return [11, 20]
