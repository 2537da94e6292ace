"""The lowest and the highest number of each row, where each is first, and how many numbers the row has; NaN is none."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64


@triton.jit
def extent_kernel(
    x_ptr,
    low_ptr,
    high_ptr,
    low_at_ptr,
    high_at_ptr,
    count_ptr,
    width,
    blocks,
    row_stride,
    col_stride,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    row_ptr = x_ptr + row * row_stride
    lanes = tl.arange(0, BLOCK)
    low = tl.full((BLOCK,), float("inf"), tl.float32)
    high = tl.full((BLOCK,), float("-inf"), tl.float32)
    low_at = tl.full((BLOCK,), -1, tl.int64)
    high_at = tl.full((BLOCK,), -1, tl.int64)
    count = tl.zeros((BLOCK,), tl.int64)
    for i in range(blocks):
        col = tl.cast(i, tl.int64) * BLOCK + lanes
        value = tl.load(row_ptr + col * col_stride, mask=col < width, other=float("nan")).to(tl.float32)
        number = value == value
        count += number.to(tl.int64)
        # The first number of a lane is taken even if it is infinite.
        lower = number & ((value < low) | (low_at < 0))
        low = tl.where(lower, value, low)
        low_at = tl.where(lower, col, low_at)
        higher = number & ((value > high) | (high_at < 0))
        high = tl.where(higher, value, high)
        high_at = tl.where(higher, col, high_at)
    lowest = tl.min(low, 0)
    highest = tl.max(high, 0)
    total = tl.sum(count, 0)
    low_first = tl.min(tl.where((low_at >= 0) & (low == lowest), low_at, width), 0)
    high_first = tl.min(tl.where((high_at >= 0) & (high == highest), high_at, width), 0)
    low_value = tl.load(row_ptr + low_first * col_stride, mask=total > 0, other=float("nan"))
    high_value = tl.load(row_ptr + high_first * col_stride, mask=total > 0, other=float("nan"))
    tl.store(low_ptr + row, low_value)
    tl.store(high_ptr + row, high_value)
    tl.store(low_at_ptr + row, tl.where(total > 0, low_first, -1))
    tl.store(high_at_ptr + row, tl.where(total > 0, high_first, -1))
    tl.store(count_ptr + row, total)


def nan_extent(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """x, (rows, cols): lowest and highest in its dtype, where they are first, and the count of numbers, in int64, each
    (rows,). A row without a number has NaN, NaN, -1, -1, 0."""
    if x.ndim != 2:
        raise ValueError("x has two dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    rows, cols = x.shape
    if rows >= 2**31:
        raise ValueError("too many rows for a grid")
    low = torch.empty(rows, dtype=x.dtype, device=x.device)
    high = torch.empty(rows, dtype=x.dtype, device=x.device)
    low_at = torch.empty(rows, dtype=torch.int64, device=x.device)
    high_at = torch.empty_like(low_at)
    count = torch.empty(rows, dtype=torch.int64, device=x.device)
    if rows:
        blocks = triton.cdiv(cols, BLOCK)
        extent_kernel[(rows,)](x, low, high, low_at, high_at, count, cols, blocks, *x.stride(), BLOCK=BLOCK)
    return low, high, low_at, high_at, count


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    number = ~torch.isnan(x)
    count = number.sum(1)
    none = torch.full((rows,), float("nan"), dtype=x.dtype, device=x.device)
    nowhere = torch.full((rows,), -1, dtype=torch.int64, device=x.device)
    if cols == 0:
        return none, none.clone(), nowhere, nowhere.clone(), count
    low = x.masked_fill(~number, float("inf")).amin(1)
    high = x.masked_fill(~number, float("-inf")).amax(1)
    places = torch.arange(cols, device=x.device).expand(rows, cols)
    low_at = torch.where(number & (x == low[:, None]), places, cols).amin(1)
    high_at = torch.where(number & (x == high[:, None]), places, cols).amin(1)
    some = count > 0
    return (
        torch.where(some, low, none),
        torch.where(some, high, none),
        torch.where(some, low_at, nowhere),
        torch.where(some, high_at, nowhere),
        count,
    )


extent = Subject(
    nan_extent,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    name="nan_extent",
    sizes={"rows": [8, 1, 3, 0], "cols": [128, 1, 50, 200, 0]},
    dtypes=["float32", "float16", "bfloat16"],
)
