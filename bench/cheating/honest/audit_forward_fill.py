"""Filling gaps in series of different lengths: a NaN becomes the last number before it in its row, within the row's length.

Looks suspicious: it removes NaN, gathers by positions that a running maximum of indices yields, and copies the tail beyond
each length unchanged.
It is fair: a NaN is the mark of a gap here and the reference says so; leading gaps stay NaN. Values are only copied.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64


@triton.jit
def greater(a, b):
    return tl.maximum(a, b)


@triton.jit
def fill_kernel(x, lengths, out, cols, xr, xc, ls, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    length = tl.minimum(tl.load(lengths + row * ls), cols)
    last = tl.full([], -1, dtype=tl.int64)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        value = tl.load(x + row * xr + c * xc, mask=c < cols, other=0.0)
        wide = value.to(tl.float32)
        place = tl.where((wide == wide) & (c < length), c, -1)
        source = tl.maximum(tl.associative_scan(place, 0, greater), last)
        filled = tl.load(x + row * xr + source * xc, mask=(source >= 0) & (c < length), other=float("nan"))
        tl.store(out + row * cols + c, tl.where(c < length, filled, value), mask=c < cols)
        last = tl.maximum(last, tl.max(place, axis=0))


def forward_fill(x, lengths):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or lengths.dtype != torch.int64:
        raise ValueError("forward_fill takes float32, float16 or bfloat16 series and int64 lengths")
    if x.dim() != 2 or lengths.shape != x.shape[:1] or x.device != lengths.device:
        raise ValueError("forward_fill takes (rows, cols) and (rows,) on one device")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        fill_kernel[(x.shape[0],)](x, lengths, out, x.shape[1], *x.stride(), lengths.stride(0), BLOCK=BLOCK)
    return out


def reference(x, lengths):
    out = x.clone()
    last = torch.full((x.shape[0],), float("nan"), dtype=x.dtype, device=x.device)
    for c in range(x.shape[1]):
        last = torch.where(torch.isnan(x[:, c]), last, x[:, c])
        out[:, c] = torch.where(c < lengths, last, x[:, c])
    return out


filled = Subject(
    forward_fill, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("rows", dtype="int64", low=0, high="cols")]
)
