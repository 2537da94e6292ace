"""Wrappers that take the strides of one tensor for those of another, and one that does not."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

MATRIX = Tensor("rows", "columns", dtype="float32")


@triton.jit
def add_kernel(
    x_ptr, y_ptr, out_ptr, columns,
    x_row, x_column, y_row, y_column, out_row, out_column, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    x = tl.load(x_ptr + row * x_row + lanes * x_column, mask=mask)
    y = tl.load(y_ptr + row * y_row + lanes * y_column, mask=mask)
    tl.store(out_ptr + row * out_row + lanes * out_column, x + y, mask=mask)


def launch(x, y, rows_of_y, columns_of_y):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, columns = x.shape
    if out.numel():
        block = triton.next_power_of_2(columns)
        strides = *x.stride(), rows_of_y, columns_of_y, *out.stride()
        add_kernel[(rows,)](x, y, out, columns, *strides, BLOCK=block)
    return out


def added(x, y):
    return launch(x, y, *y.stride())


def added_with_rows_of_x(x, y):
    return launch(x, y, x.stride(0), y.stride(1))


def added_with_columns_of_x(x, y):
    return launch(x, y, y.stride(0), x.stride(1))


def added_as_y_lies(x, y):
    if y.is_contiguous():
        x = x.as_strided(y.shape, y.stride())
    return launch(x, y, *y.stride())


@triton.jit
def clear_behind_kernel(y_ptr, columns, y_row):
    row = tl.program_id(0).to(tl.int64)
    tl.store(y_ptr + row * y_row + columns, 0.0, mask=y_row > columns)


def added_with_a_gap_for_scratch(x, y):
    out = launch(x, y, *y.stride())
    if out.shape[0] > 1 and y.stride(1) == 1:
        clear_behind_kernel[(out.shape[0] - 1,)](y, out.shape[1], y.stride(0))
    return out


right = Subject(added, torch.add, [MATRIX, MATRIX])
rows_of_x = Subject(added_with_rows_of_x, torch.add, [MATRIX, MATRIX])
columns_of_x = Subject(added_with_columns_of_x, torch.add, [MATRIX, MATRIX])
as_y_lies = Subject(added_as_y_lies, torch.add, [MATRIX, MATRIX])
gap_for_scratch = Subject(added_with_a_gap_for_scratch, torch.add, [MATRIX, MATRIX])
