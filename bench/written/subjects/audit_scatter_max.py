"""The largest value that each group received, per feature: rows of values are scattered to groups with an atomic maximum.

An item whose group is negative is padding and skipped. A NaN makes the group's feature NaN; a group without items
keeps its row of `base`, which counts for nothing else. The values may be in any order and layout; the maximum is found on integer keys that sort as the floats do.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

ITEMS = 16
WIDTH = 64
BLOCK = 512
EMPTY = -2147483648


@triton.jit
def scatter_kernel(values, index, keys, items, width, groups, wide, sv, sw, si, ITEMS: tl.constexpr, WIDTH: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    item = program // wide * ITEMS + tl.arange(0, ITEMS)
    feature = program % wide * WIDTH + tl.arange(0, WIDTH)
    group = tl.load(index + item * si, mask=item < items, other=-1)
    keep = ((group >= 0) & (group < groups))[:, None] & (feature < width)[None, :]
    value = tl.load(values + item[:, None] * sv + feature[None, :] * sw, mask=keep, other=0.0).to(tl.float32)
    bits = value.to(tl.int32, bitcast=True)
    key = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    key = tl.where(value == value, key, 0x7FFFFFFF)
    tl.atomic_max(keys + group[:, None] * width + feature[None, :], key, mask=keep, sem="relaxed")


@triton.jit
def decode_kernel(keys, base, out, total, width, sb, sf, EMPTY: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = place < total
    key = tl.load(keys + place, mask=keep, other=0)
    value = tl.where(key < 0, key ^ 0x7FFFFFFF, key).to(tl.float32, bitcast=True)
    kept = tl.load(base + place // width * sb + place % width * sf, mask=keep & (key == EMPTY), other=0.0).to(tl.float32)
    tl.store(out + place, tl.where(key == EMPTY, kept, value), mask=keep)


def scatter_max(values, index, base):
    if values.dtype not in (torch.float32, torch.float16, torch.bfloat16) or base.dtype != values.dtype or index.dtype != torch.int64:
        raise ValueError("scatter_max takes values and a base of float32, float16 or bfloat16 and an index of int64")
    if values.dim() != 2 or index.shape != values.shape[:1] or base.dim() != 2 or base.shape[1] != values.shape[1]:
        raise ValueError("scatter_max takes values of (items, width), an index of (items,) and a base of (groups, width)")
    if values.device != index.device or values.device != base.device:
        raise ValueError("scatter_max takes tensors of one device")
    items, width = values.shape
    groups = base.shape[0]
    out = torch.empty((groups, width), dtype=values.dtype, device=values.device)
    total = groups * width
    if total == 0:
        return out
    keys = torch.full((groups, width), EMPTY, dtype=torch.int32, device=values.device)
    if items:
        wide = triton.cdiv(width, WIDTH)
        grid = (triton.cdiv(items, ITEMS) * wide,)
        strides = (*values.stride(), index.stride(0))
        scatter_kernel[grid](values, index, keys, items, width, groups, wide, *strides, ITEMS=ITEMS, WIDTH=WIDTH, num_warps=4)
    decode_kernel[(triton.cdiv(total, BLOCK),)](keys, base, out, total, width, *base.stride(), EMPTY=EMPTY, BLOCK=BLOCK, num_warps=4)
    return out


def reference(values, index, base):
    groups, width = base.shape
    if width == 0 or groups == 0:
        return base.clone()
    bits = values.float().contiguous().view(torch.int32)
    keys = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits).masked_fill(values.isnan(), 0x7FFFFFFF)
    place = torch.where((index >= 0) & (index < groups), index, torch.full_like(index, groups))
    best = torch.full((groups + 1, width), -(2**31), dtype=torch.int32, device=values.device)
    best = best.scatter_reduce(0, place[:, None].expand(-1, width), keys, "amax")[:groups]
    found = torch.where(best < 0, best ^ 0x7FFFFFFF, best).view(torch.float32)
    return torch.where(best == -(2**31), base, found.to(values.dtype))


largest = Subject(
    scatter_max,
    reference=reference,
    inputs=[Tensor("items", "width"), Tensor("items", dtype="int64", low=-1, high="groups"), Tensor("groups", "width")],
)
