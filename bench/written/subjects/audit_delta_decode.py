"""Decoding of columns stored as differences: every row holds zigzag codes of the steps from one value to the next.

A code n stands for the step (n >>> 1) ^ -(n & 1), where >>> shifts in zeros; the value at a place is the row's first
value plus all the steps up to and with that place, in the codes' own integer type, wrapping around. From a row's length
on the result is 0; a length beyond the number of codes means all of them. All three tensors may have any layout.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 1024


@triton.jit
def delta_kernel(codes, first, lengths, out, count, blocks, sr, sc, sf, sl, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    length = tl.minimum(tl.load(lengths + row * sl), count)
    carry = tl.load(first + row * sf)
    column = tl.arange(0, BLOCK).to(tl.int64)
    for _ in range(blocks):
        keep = column < length
        code = tl.load(codes + row * sr + column * sc, mask=keep, other=0)
        step = ((code >> 1) & LARGEST) ^ -(code & 1)
        value = tl.cumsum(step, axis=0) + carry
        tl.store(out + row * count + column, tl.where(keep, value, 0), mask=column < count)
        carry += tl.sum(step, axis=0)
        column += BLOCK


def delta_decode(codes, first, lengths):
    if codes.dtype not in (torch.int32, torch.int64) or first.dtype != codes.dtype or lengths.dtype != torch.int64:
        raise ValueError("delta_decode takes codes and first values of int32 or int64, and lengths of int64")
    if codes.dim() != 2 or first.shape != codes.shape[:1] or lengths.shape != codes.shape[:1]:
        raise ValueError("delta_decode takes codes of (rows, count), first values of (rows,) and lengths of (rows,)")
    if codes.device != first.device or codes.device != lengths.device:
        raise ValueError("delta_decode takes tensors of one device")
    rows, count = codes.shape
    out = torch.empty((rows, count), dtype=codes.dtype, device=codes.device)
    if rows and count:
        largest = torch.iinfo(codes.dtype).max
        blocks = triton.cdiv(count, BLOCK)
        strides = (*codes.stride(), first.stride(0), lengths.stride(0))
        grid = (rows,)
        delta_kernel[grid](codes, first, lengths, out, count, blocks, *strides, LARGEST=largest, BLOCK=BLOCK, num_warps=4)
    return out


def reference(codes, first, lengths):
    count = codes.shape[1]
    step = ((codes >> 1) & torch.iinfo(codes.dtype).max) ^ -(codes & 1)
    value = first[:, None] + torch.cumsum(step, dim=1, dtype=codes.dtype)
    keep = torch.arange(count, device=codes.device)[None, :] < lengths[:, None]
    return torch.where(keep, value, torch.zeros_like(value))


def inputs(dtype, bound):
    return [
        Tensor("rows", "count", dtype=dtype, low=-bound, high=bound),
        Tensor("rows", dtype=dtype, low=-bound, high=bound),
        Tensor("rows", dtype="int64", low=0, high="2 * count"),
    ]


SIZES = {"count": [1, 7, 300, 1024, 2500, 5000]}
wide = Subject(delta_decode, reference=reference, inputs=inputs("int64", 2**62), sizes=SIZES)
narrow = Subject(delta_decode, reference=reference, inputs=inputs("int32", 2**30), sizes=SIZES)
