"""Rows of views whose rows lie far apart, some of them found by places that are loaded beside an atomic."""

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor

PROGRAMS = 4


@triton.jit
def squares_kernel(x_ptr, out_ptr, n, columns, row_stride, IS_WIDE: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    first = tl.program_id(0) * BLOCK
    if IS_WIDE:
        first = first.to(tl.int64)
    for start in range(first, n, 4 * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at // columns * row_stride + at % columns, mask=at < n, other=0.0)
        total += x * x
    tl.store(out_ptr + tl.program_id(0), tl.sum(total, axis=0))


def squares(x, is_wide):
    out = torch.empty(PROGRAMS, device=x.device)
    x = x if x.stride(-1) == 1 else x.contiguous()
    squares_kernel[(PROGRAMS,)](x, out, x.numel(), x.shape[1], x.stride(0), IS_WIDE=is_wide, BLOCK=64)
    return out.sum()


def squares_wide(x):
    return squares(x, True)


def squares_narrow(x):
    return squares(x, False)


def squares_of_contiguous(x):
    return squares(x.contiguous(), False)


def squares_of(x):
    return x.square().sum()


def rows(case):
    generator = torch.Generator().manual_seed(case.seed)
    return torch.randn(case["rows"], case["cols"], generator=generator)


SIZES = {"rows": [8, 1, 33], "cols": [64, 31]}
wide = Subject(squares_wide, squares_of, rows, sizes=SIZES)
narrow = Subject(squares_narrow, squares_of, rows, sizes=SIZES)
contiguous = Subject(squares_of_contiguous, squares_of, rows, sizes=SIZES)


@triton.jit
def put_kernel(x_ptr, slots_ptr, out_ptr, counts_ptr, columns, out_stride, IS_WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots_ptr + row)
    if not IS_WIDE:
        slot = slot.to(tl.int32)
    if slot >= 0:
        lanes = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + lanes, mask=lanes < columns)
        tl.store(out_ptr + slot * out_stride + lanes, x, mask=lanes < columns)
        tl.atomic_add(counts_ptr + slot % 2, 1)


def put(x, slots, out, is_wide):
    x, counts = x.contiguous(), torch.zeros(2, dtype=torch.int32, device=x.device)
    grid, block = (x.shape[0],), triton.next_power_of_2(x.shape[1])
    put_kernel[grid](x, slots, out, counts, x.shape[1], out.stride(0), IS_WIDE=is_wide, BLOCK=block)
    return counts


def put_wide(x, slots, out):
    return put(x, slots, out, True)


def put_narrow(x, slots, out):
    return put(x, slots, out, False)


def put_as(x, slots, out):
    kept = slots >= 0
    out[slots[kept]] = x[kept]
    return torch.bincount(slots[kept] % 2, minlength=2).to(torch.int32)


def places(case):
    rows, cols = case["rows"], case["cols"]
    slots = torch.randperm(2 * rows)[:rows]
    slots[torch.rand(rows) < 0.2] = -1
    return torch.randn(rows, cols), slots, torch.randn(2 * rows, cols)


placed_wide = Subject(put_wide, put_as, places, sizes=SIZES, mutates=[2])
placed_narrow = Subject(put_narrow, put_as, places, sizes=SIZES, mutates=[2])


@triton.jit
def scale_kernel(x_ptr, scales_ptr, ends_ptr, out_ptr, groups, group_stride, IS_WIDE: tl.constexpr):
    row = tl.program_id(0)
    for group in range(groups):
        if (row >= tl.load(ends_ptr + group)) & (row < tl.load(ends_ptr + group + 1)):
            at = group.to(tl.int64) if IS_WIDE else group
            scale = tl.load(scales_ptr + at * group_stride)
            tl.store(out_ptr + row, tl.load(x_ptr + row) * scale)


def scaled(x, scales, ends, is_wide):
    x = x.contiguous()
    out = torch.empty_like(x)
    scale_kernel[(len(x),)](x, scales, ends, out, len(scales), scales.stride(0), IS_WIDE=is_wide)
    return out


def scaled_wide(x, scales, ends):
    return scaled(x, scales, ends, True)


def scaled_narrow(x, scales, ends):
    return scaled(x, scales, ends, False)


def scaled_as(x, scales, ends):
    return x * scales.repeat_interleave(ends.diff())


GROUPS = [Tensor("tokens"), Tensor("groups"), Offsets("groups", "tokens")]
groups_wide = Subject(scaled_wide, scaled_as, GROUPS, sizes={"tokens": [64, 7], "groups": [4, 3]})
groups_narrow = Subject(scaled_narrow, scaled_as, GROUPS, sizes={"tokens": [64, 7], "groups": [4, 3]})
