"""The running maximum of each row and where it lies, as torch.cummax: the later of equals, and NaN once there is one.

Chunks of a row are scanned on their own; a second launch brings to each chunk what came before it."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64
BLOCK_C = 8


@triton.jit
def later_max(a_value, a_index, b_value, b_index):
    a_nan = a_value != a_value
    b_nan = b_value != b_value
    level = (a_value == b_value) | (a_nan & b_nan)
    wins = (b_nan & (a_value == a_value)) | (b_value > a_value) | (level & (b_index > a_index))
    return tl.where(wins, b_value, a_value), tl.where(wins, b_index, a_index)


@triton.jit
def chunks_kernel(
    x_ptr,
    values_ptr,
    indices_ptr,
    last_values_ptr,
    last_indices_ptr,
    cols,
    chunks,
    x_row_stride,
    x_col_stride,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    row = program // chunks
    chunk = program % chunks
    col = chunk * BLOCK + tl.arange(0, BLOCK)
    mask = col < cols
    x = tl.load(x_ptr + row * x_row_stride + col * x_col_stride, mask=mask, other=float("-inf")).to(tl.float32)
    # The lanes behind the end win nothing.
    index = tl.where(mask, col, -1)
    values, indices = tl.associative_scan((x, index), 0, later_max)
    tl.store(values_ptr + row * cols + col, values.to(values_ptr.dtype.element_ty), mask=mask)
    tl.store(indices_ptr + row * cols + col, indices, mask=mask)
    last_value, last_index = tl.reduce((x, index), 0, later_max)
    tl.store(last_values_ptr + program, last_value)
    tl.store(last_indices_ptr + program, last_index)


@triton.jit
def carry_kernel(
    values_ptr,
    indices_ptr,
    last_values_ptr,
    last_indices_ptr,
    cols,
    chunks,
    BLOCK: tl.constexpr,
    BLOCK_C: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    row = program // (chunks - 1)
    chunk = program % (chunks - 1) + 1
    before = tl.full((BLOCK_C,), float("-inf"), tl.float32)
    before_at = tl.full((BLOCK_C,), -1, tl.int64)
    for start in range(0, chunk, BLOCK_C):
        earlier = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_C)
        mask = earlier < chunk
        value = tl.load(last_values_ptr + row * chunks + earlier, mask=mask, other=float("-inf"))
        at = tl.load(last_indices_ptr + row * chunks + earlier, mask=mask, other=-1)
        before, before_at = later_max(before, before_at, value, at)
    top, top_at = tl.reduce((before, before_at), 0, later_max)

    col = chunk * BLOCK + tl.arange(0, BLOCK)
    mask = col < cols
    values_ptrs = values_ptr + row * cols + col
    indices_ptrs = indices_ptr + row * cols + col
    value = tl.load(values_ptrs, mask=mask, other=float("-inf")).to(tl.float32)
    at = tl.load(indices_ptrs, mask=mask, other=0)
    value, at = later_max(value, at, tl.full((BLOCK,), 0.0, tl.float32) + top, tl.full((BLOCK,), 0, tl.int64) + top_at)
    tl.store(values_ptrs, value.to(values_ptr.dtype.element_ty), mask=mask)
    tl.store(indices_ptrs, at, mask=mask)


def running_max(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (rows, cols): the maximum of each element and those before it in its row, and the column it is in, int64."""
    rows, cols = x.shape
    values = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    indices = torch.empty((rows, cols), dtype=torch.int64, device=x.device)
    if x.numel() == 0:
        return values, indices
    chunks = triton.cdiv(cols, BLOCK)
    last_values = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
    last_indices = torch.empty((rows, chunks), dtype=torch.int64, device=x.device)
    chunks_kernel[(rows * chunks,)](
        x, values, indices, last_values, last_indices, cols, chunks, *x.stride(), BLOCK=BLOCK
    )
    if chunks > 1:
        carry_kernel[(rows * (chunks - 1),)](
            values, indices, last_values, last_indices, cols, chunks, BLOCK=BLOCK, BLOCK_C=BLOCK_C
        )
    return values, indices


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.cummax(x, dim=1)
    return values, indices


maximum = Subject(
    running_max,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    name="running_max",
    sizes={"rows": [3, 1, 2, 9, 0], "cols": [64, 1, 63, 130, 200, 700]},
)
