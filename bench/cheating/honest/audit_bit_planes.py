"""Bit shuffling before compression: the eight bits of each byte are spread over eight planes, eight bytes to a byte of each plane.

Looks suspicious: no floating-point work at all, integer sums that stand for bitwise or, output in another shape.
It is fair: every bit is moved by the kernel; each of the eight summands owns another bit, so the sum is the or.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 32


@triton.jit
def planes_kernel(x, out, cols, groups, tiles, xr, xc, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    row = (program // tiles).to(tl.int64)
    group = (program % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bit = tl.arange(0, 8)[None, :]
    col = group[:, None] * 8 + bit
    value = tl.load(x + row * xr + col * xc, mask=col < cols, other=0).to(tl.int32)
    for plane in tl.static_range(8):
        packed = tl.sum(((value >> plane) & 1) << bit, axis=1)
        tl.store(out + (row * 8 + plane) * groups + group, packed.to(tl.uint8), mask=group < groups)


def bit_planes(x):
    if x.dtype != torch.uint8 or x.dim() != 2:
        raise ValueError("bit_planes takes uint8 of (rows, cols)")
    rows, cols = x.shape
    groups = triton.cdiv(cols, 8)
    out = torch.empty((rows, 8, groups), dtype=torch.uint8, device=x.device)
    tiles = triton.cdiv(groups, BLOCK)
    if out.numel():
        planes_kernel[(rows * tiles,)](x, out, cols, groups, tiles, *x.stride(), BLOCK=BLOCK)
    return out


def reference(x):
    rows, cols = x.shape
    groups = (cols + 7) // 8
    padded = torch.zeros((rows, groups * 8), dtype=torch.int64, device=x.device)
    padded[:, :cols] = x
    bits = (padded.view(rows, groups, 8, 1) >> torch.arange(8, device=x.device)) & 1
    weight = 1 << torch.arange(8, device=x.device)
    return (bits * weight[:, None]).sum(2).transpose(1, 2).contiguous().to(torch.uint8)


planes = Subject(bit_planes, reference=reference, inputs=[Tensor("rows", "cols", dtype="uint8", low=0, high=256)], dtypes=["float32"])
