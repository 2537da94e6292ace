"""Prefix sums along rows that begin anew at every mark, as for segments that lie one behind the other."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 64


@triton.jit
def join(sum_a, mark_a, sum_b, mark_b):
    # By where and not by a product: what lies before a mark may be infinite.
    return tl.where(mark_b != 0, sum_b, sum_a + sum_b), mark_a | mark_b


@triton.jit
def restarted_sum_kernel(
    x_ptr,
    marks_ptr,
    y_ptr,
    cols,
    x_row_stride,
    x_col_stride,
    marks_row_stride,
    marks_col_stride,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    carry = 0.0
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + lane
        mask = col < cols
        x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=mask, other=0.0).to(tl.float32)
        mark = tl.load(marks_ptr + row * marks_row_stride + col * marks_col_stride, mask=mask, other=0)
        sums, marked = tl.associative_scan((x, (mark != 0).to(tl.int32)), 0, join)
        y = tl.where(marked == 0, sums + carry, sums)
        tl.store(y_ptr + row * cols + col, y, mask=mask)
        carry = tl.sum(tl.where(lane == BLOCK - 1, y, 0.0), axis=0)


def restarted_sum(x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
    """x, (rows, cols), and marks, integers of the same shape: each element of the result is the sum of x from the last
    mark that isn't 0, or the row's beginning, up to and with it, in float32 and then x's dtype."""
    if x.ndim != 2 or marks.shape != x.shape:
        raise ValueError("x and marks have the same two dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    if marks.dtype not in (torch.int32, torch.int64):
        raise ValueError("marks is int32 or int64")
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows >= 2**31:
        raise ValueError("too many rows for a grid")
    if y.numel():
        restarted_sum_kernel[(rows,)](x, marks, y, cols, *x.stride(), *marks.stride(), BLOCK=BLOCK)
    return y


def reference(x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
    sums = x.to(torch.promote_types(x.dtype, torch.float32))
    marked = marks != 0
    step = 1
    while step < x.shape[1]:
        before = torch.nn.functional.pad(sums[:, :-step], (step, 0))
        sums = torch.where(marked, sums, sums + before)
        marked = marked | torch.nn.functional.pad(marked[:, :-step], (step, 0), value=True)
        step *= 2
    return sums.to(x.dtype)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Marks of 1, 2 or -1 at every twentieth element, none at all in some rows, and behind an infinity in others."""
    rows, cols = case["rows"], case["cols"]
    generator = torch.Generator().manual_seed(case.seed)
    x = torch.randn((rows, cols), generator=generator)
    marks = torch.randint(0, 60, (rows, cols), generator=generator)
    marks = torch.where(marks == 0, 1, torch.where(marks == 1, 2, torch.where(marks == 2, -1, 0)))
    marks[::3] = 0
    if cols > 10:
        x[1::3, 4] = float("inf")
        marks[1::3, 7] = 2
    return x.to(getattr(torch, case.dtype)).to(case.device), marks.to(torch.int32).to(case.device)


restarted = Subject(
    restarted_sum,
    reference=reference,
    inputs=inputs,
    name="restarted_sum",
    sizes={"rows": [16, 1, 7, 0], "cols": [128, 1, 65, 200, 1500]},
)
