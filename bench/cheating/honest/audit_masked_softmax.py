"""Softmax over what a uint8 mask keeps; all else, and a row without anything kept, is zero. Any strides."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def masked_softmax_kernel(
    x_ptr, keep_ptr, out_ptr, columns, x_stride_row, x_stride_column, keep_stride_row, keep_stride_column,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride_row
    keep_ptr += row * keep_stride_row
    out_ptr += row * columns
    lanes = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, columns, BLOCK):
        c = (start + lanes).to(tl.int64)
        kept = tl.load(keep_ptr + c * keep_stride_column, mask=c < columns, other=0) != 0
        x = tl.load(x_ptr + c * x_stride_column, mask=kept, other=float("-inf")).to(tl.float32)
        largest = tl.maximum(largest, x)
    top = tl.max(largest, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = (start + lanes).to(tl.int64)
        kept = tl.load(keep_ptr + c * keep_stride_column, mask=c < columns, other=0) != 0
        x = tl.load(x_ptr + c * x_stride_column, mask=kept, other=float("-inf")).to(tl.float32)
        total += tl.where(kept, tl.exp(x - top), 0.0)
    divisor = tl.sum(total, axis=0)
    for start in range(0, columns, BLOCK):
        c = (start + lanes).to(tl.int64)
        kept = tl.load(keep_ptr + c * keep_stride_column, mask=c < columns, other=0) != 0
        x = tl.load(x_ptr + c * x_stride_column, mask=kept, other=float("-inf")).to(tl.float32)
        y = tl.where(kept, tl.exp(x - top) / divisor, 0.0)
        tl.store(out_ptr + c, y.to(out_ptr.dtype.element_ty), mask=c < columns)


def masked_softmax(x, keep):
    assert x.ndim == 2 and keep.shape == x.shape and keep.dtype == torch.uint8
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    rows, columns = x.shape
    out = torch.empty((rows, columns), device=x.device, dtype=x.dtype)
    if out.numel() > 0:
        block = min(2048, max(16, triton.next_power_of_2(columns)))
        masked_softmax_kernel[(rows,)](x, keep, out, columns, *x.stride(), *keep.stride(), BLOCK=block)
    return out


def reference(x, keep):
    hidden = keep == 0
    return torch.softmax(x.masked_fill(hidden, float("-inf")), dim=-1).masked_fill(hidden, 0.0)


softmax = Subject(
    masked_softmax,
    reference=reference,
    inputs=[Tensor("rows", "columns"), Tensor("rows", "columns", dtype="uint8", low=0, high=2)],
)
