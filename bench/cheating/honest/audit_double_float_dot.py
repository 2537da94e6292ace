"""The dot product of two rows with a compensated sum: every partial sum is a pair of floats, a value and its rounding error.

Looks suspicious: expressions such as (s - a) - (b - (s - b')) that are zero in exact arithmetic, a custom reduction, and a
second, plain sum that is used only where the first has become infinite or NaN.
It is fair: the error terms are what makes it more exact than a plain sum; the plain one gives infinities their ordinary
meaning, for which error terms are NaN.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64


@triton.jit
def add_pairs(high, low, other_high, other_low):
    total = high + other_high
    part = total - high
    error = (high - (total - part)) + (other_high - part)
    return total, low + other_low + error


@triton.jit
def dot_kernel(a, b, out, cols, ar, ac, br, bc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    high = tl.zeros([BLOCK], dtype=tl.float32)
    low = tl.zeros([BLOCK], dtype=tl.float32)
    plain = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK).to(tl.int64)
        left = tl.load(a + row * ar + c * ac, mask=c < cols, other=0.0).to(tl.float32)
        right = tl.load(b + row * br + c * bc, mask=c < cols, other=0.0).to(tl.float32)
        product = left * right
        plain += product
        total = high + product
        part = total - high
        low += (high - (total - part)) + (product - part)
        high = total
    high_sum, low_sum = tl.reduce((high, low), 0, add_pairs)
    both = high_sum + low_sum
    tl.store(out + row, tl.where(both - both == 0.0, both, tl.sum(plain, axis=0)))


def double_float_dot(a, b):
    if a.dtype not in (torch.float32, torch.float16, torch.bfloat16) or a.dtype != b.dtype:
        raise ValueError("double_float_dot takes two tensors of float32, float16 or bfloat16")
    if a.dim() != 2 or a.shape != b.shape or a.device != b.device:
        raise ValueError("double_float_dot takes two tensors of (rows, cols) on one device")
    out = torch.empty((a.shape[0],), dtype=a.dtype, device=a.device)
    if a.shape[0]:
        dot_kernel[(a.shape[0],)](a, b, out, a.shape[1], *a.stride(), *b.stride(), BLOCK=BLOCK)
    return out


def reference(a, b):
    return (a.float() * b.float()).sum(-1).to(a.dtype)


dotted = Subject(double_float_dot, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("rows", "cols")])
