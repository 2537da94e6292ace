"""Vector quantisation: for every point the nearest code by squared distance, that code, and how often each code was taken.

Of several nearest codes the first is taken; a NaN distance counts as nearest of all, as torch.argmin has it. Differences
are squared and summed in float32, the counts are gathered by integer atomics (exact, whatever their order).
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

POINTS = 16
CODES = 16
LANES = 16


@triton.jit
def assign_kernel(x, codes, index, nearest, counts, points, number, width, xp, xd, cn, cd,
                  POINTS: tl.constexpr, CODES: tl.constexpr, LANES: tl.constexpr):
    p = tl.program_id(0).to(tl.int64) * POINTS + tl.arange(0, POINTS)
    best = tl.full([POINTS], float("inf"), dtype=tl.float32)
    chosen = tl.zeros([POINTS], dtype=tl.int64)
    for first in range(0, number, CODES):
        n = first + tl.arange(0, CODES).to(tl.int64)
        distance = tl.zeros([POINTS, CODES], dtype=tl.float32)
        for start in range(0, width, LANES):
            d = start + tl.arange(0, LANES).to(tl.int64)
            a = tl.load(x + p[:, None] * xp + d[None, :] * xd, mask=(p[:, None] < points) & (d[None, :] < width), other=0.0)
            b = tl.load(codes + n[:, None] * cn + d[None, :] * cd, mask=(n[:, None] < number) & (d[None, :] < width), other=0.0)
            apart = a.to(tl.float32)[:, None, :] - b.to(tl.float32)[None, :, :]
            distance += tl.sum(apart * apart, axis=2)
        key = tl.where(distance == distance, distance, -1.0)
        key = tl.where(n[None, :] < number, key, float("inf"))
        least = tl.min(key, axis=1)
        place = tl.min(tl.where(key == least[:, None], n[None, :], number), axis=1)
        better = least < best
        chosen = tl.where(better, place, chosen)
        best = tl.where(better, least, best)
    tl.store(index + p, chosen, mask=p < points)
    tl.atomic_add(counts + chosen, tl.full([POINTS], 1, dtype=tl.int32), mask=p < points)
    for start in range(0, width, LANES):
        d = start + tl.arange(0, LANES).to(tl.int64)
        keep = (p[:, None] < points) & (d[None, :] < width)
        code = tl.load(codes + chosen[:, None] * cn + d[None, :] * cd, mask=keep, other=0.0)
        tl.store(nearest + p[:, None] * width + d[None, :], code, mask=keep)


def vq_assign(x, codes):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or codes.dtype != x.dtype:
        raise ValueError("vq_assign takes two tensors of float32, float16 or bfloat16")
    if x.dim() != 2 or codes.dim() != 2 or x.shape[1] != codes.shape[1]:
        raise ValueError("vq_assign takes (points, width) and (codes, width)")
    if codes.shape[0] == 0:
        raise ValueError("vq_assign takes at least one code")
    if x.device != codes.device:
        raise ValueError("vq_assign takes tensors of one device")
    points, width = x.shape
    number = codes.shape[0]
    index = torch.empty((points,), dtype=torch.int64, device=x.device)
    nearest = torch.empty((points, width), dtype=x.dtype, device=x.device)
    counts = torch.zeros((number,), dtype=torch.int32, device=x.device)
    if points:
        assign_kernel[(triton.cdiv(points, POINTS),)](
            x, codes, index, nearest, counts, points, number, width, *x.stride(), *codes.stride(),
            POINTS=POINTS, CODES=CODES, LANES=LANES,
        )
    return index, nearest, counts


def reference(x, codes):
    distance = torch.zeros((x.shape[0], codes.shape[0]), dtype=torch.float32, device=x.device)
    for d in range(x.shape[1]):
        distance += (x[:, d].float()[:, None] - codes[:, d].float()[None, :]) ** 2
    key = torch.where(torch.isnan(distance), -1.0, distance)
    least = key.min(dim=1, keepdim=True).values
    number = torch.arange(codes.shape[0], device=x.device)
    index = torch.where(key == least, number, codes.shape[0]).min(dim=1).values
    return index, codes[index], torch.bincount(index, minlength=codes.shape[0]).to(torch.int32)


assigned = Subject(vq_assign, reference=reference, inputs=[Tensor("points", "width"), Tensor("codes", "width")])
