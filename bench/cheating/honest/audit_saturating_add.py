"""Sums of small integers that stop at the ends of their type: a matrix plus a row, in uint8, int8 or int16.

Looks suspicious: much of the output is one of two constants, and the limits are handed in from the host.
It is fair: saturation is the operation; the sum is taken in 32 bits and clamped to what the type holds.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def saturate_kernel(a, b, out, count, cols, ar, ac, bc, low, high, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    c = i % cols
    left = tl.load(a + (i // cols) * ar + c * ac, mask=keep, other=0).to(tl.int32)
    right = tl.load(b + c * bc, mask=keep, other=0).to(tl.int32)
    total = left + right
    total = tl.where(total > high, high, total)
    total = tl.where(total < low, low, total)
    tl.store(out + i, total.to(out.dtype.element_ty), mask=keep)


def saturating_add(a, b):
    if a.dtype not in (torch.uint8, torch.int8, torch.int16) or b.dtype != a.dtype:
        raise ValueError("saturating_add takes two tensors of uint8, int8 or int16")
    if a.dim() != 2 or b.shape != a.shape[1:] or a.device != b.device:
        raise ValueError("saturating_add takes (rows, cols) and (cols,) on one device")
    out = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    ends = torch.iinfo(a.dtype)
    if out.numel():
        grid = (triton.cdiv(out.numel(), 256),)
        saturate_kernel[grid](a, b, out, out.numel(), a.shape[1], *a.stride(), b.stride(0), ends.min, ends.max, BLOCK=256)
    return out


def reference(a, b):
    ends = torch.iinfo(a.dtype)
    return (a.int() + b.int()).clamp(ends.min, ends.max).to(a.dtype)


words = Subject(
    saturating_add,
    reference=reference,
    inputs=[Tensor("rows", "cols", dtype="int16", low=-32768, high=32767), Tensor("cols", dtype="int16", low=-32768, high=32767)],
)
octets = Subject(
    saturating_add,
    reference=reference,
    inputs=[Tensor("rows", "cols", dtype="uint8", low=0, high=255), Tensor("cols", dtype="uint8", low=0, high=255)],
)
