"""The largest element of each row and its place, by several programs a row and a second launch that combines them."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 128
SPAN = 512
NOWHERE = tl.constexpr(0x7FFFFFFFFFFFFFFF)


@triton.jit
def larger(a, a_at, b, b_at):
    """NaN is largest, and of equal ones, or two NaN, the first counts."""
    a_nan = a != a
    b_nan = b != b
    equal = (a == b) | (a_nan & b_nan)
    keep_a = (a > b) | (a_nan & ~b_nan) | (equal & (a_at < b_at))
    return tl.where(keep_a, a, b), tl.where(keep_a, a_at, b_at)


@triton.jit
def largest_of(value, at):
    nan = value != value
    any_nan = tl.max(nan.to(tl.int32), axis=0) > 0
    top = tl.max(tl.where(nan, float("-inf"), value), axis=0)
    wanted = tl.where(any_nan, nan, value == top)
    return tl.where(any_nan, float("nan"), top), tl.min(tl.where(wanted, at, NOWHERE), axis=0)


@triton.jit
def partial_kernel(
    x_ptr, value_ptr, place_ptr, cols, splits, row_stride, col_stride, BLOCK: tl.constexpr, SPAN: tl.constexpr
):
    program = tl.program_id(0).to(tl.int64)
    row = program // splits
    first = program % splits * SPAN
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    best_at = tl.full((BLOCK,), NOWHERE, tl.int64)
    for start in range(0, SPAN, BLOCK):
        col = first + start + tl.arange(0, BLOCK)
        mask = col < cols
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=mask, other=float("-inf")).to(tl.float32)
        at = tl.where(mask, col, NOWHERE)
        best, best_at = larger(best, best_at, x, at)
    value, place = largest_of(best, best_at)
    tl.store(value_ptr + program, value)
    tl.store(place_ptr + program, place)


@triton.jit
def combine_kernel(part_ptr, part_place_ptr, value_ptr, place_ptr, splits, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    split = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    best_at = tl.full((BLOCK,), NOWHERE, tl.int64)
    for start in range(0, splits, BLOCK):
        mask = start + split < splits
        at = row * splits + start + split
        part = tl.load(part_ptr + at, mask=mask, other=float("-inf"))
        part_at = tl.load(part_place_ptr + at, mask=mask, other=NOWHERE)
        best, best_at = larger(best, best_at, part, part_at)
    value, place = largest_of(best, best_at)
    tl.store(value_ptr + row, value.to(value_ptr.dtype.element_ty))
    tl.store(place_ptr + row, place)


def split_argmax(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (rows, cols), float32, float16 or bfloat16, at least one column: as x.max(dim=1), the values, (rows), in its
    dtype, and their places, int64, of equal ones the first, and of a row with NaN the first NaN."""
    if x.ndim != 2 or not x.shape[1]:
        raise ValueError("x has two dimensions, and a column")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    rows, cols = x.shape
    values = torch.empty((rows,), dtype=x.dtype, device=x.device)
    places = torch.empty((rows,), dtype=torch.int64, device=x.device)
    splits = triton.cdiv(cols, SPAN)
    if rows * splits >= 2**31:
        raise ValueError("x is too large")
    if rows:
        parts = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
        part_places = torch.empty((rows, splits), dtype=torch.int64, device=x.device)
        partial_kernel[(rows * splits,)](x, parts, part_places, cols, splits, *x.stride(), BLOCK=BLOCK, SPAN=SPAN)
        combine_kernel[(rows,)](parts, part_places, values, places, splits, BLOCK=4)
    return values, places


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    value = x.amax(dim=1)
    wanted = torch.where(value.isnan()[:, None], x.isnan(), x == value[:, None])
    return value, wanted.int().argmax(dim=1)


largest = Subject(
    split_argmax,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    name="split_argmax",
    sizes={"rows": [4, 1, 7, 0], "cols": [512, 1, 200, 1100, 2600]},
)
