"""Rows of bytes are sorted by counting: the result is made up from 256 counts, and no element is ever moved.

It looks suspicious: the second half of the kernel does not read the input at all, but writes, at each place, how many
of the 256 running counts are not above it. It is fair: in a sorted row, the element at a place is the smallest value
whose running count exceeds the place, equal bytes cannot be told apart, and the counts are exact integers.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def counting_sort_kernel(x_ptr, out_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr, OUT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    counts = tl.zeros((256,), tl.int64)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=col < cols, other=0).to(tl.int32)
        counts += tl.histogram(x, 256).to(tl.int64)
        # What lies behind the end was counted as zeros.
        counts -= tl.where(tl.arange(0, 256) == 0, tl.sum((col >= cols).to(tl.int64), axis=0), 0)
    upto = tl.cumsum(counts, axis=0)
    for start in range(0, cols, OUT):
        place = tl.cast(start, tl.int64) + tl.arange(0, OUT)
        value = tl.sum((upto[None, :] <= place[:, None]).to(tl.int32), axis=1)
        tl.store(out_ptr + row * cols + place, value.to(tl.uint8), mask=place < cols)


def sort_bytes(x):
    """x, (rows, cols), uint8: each row in ascending order."""
    if x.ndim != 2 or x.dtype != torch.uint8:
        raise ValueError("x is (rows, cols), uint8")
    rows, cols = x.shape
    out = torch.empty((rows, cols), dtype=torch.uint8, device=x.device)
    if out.numel():
        counting_sort_kernel[(rows,)](x, out, cols, *x.stride(), BLOCK=512, OUT=32)
    return out


def reference(x):
    return torch.sort(x, dim=1).values


in_order = Subject(
    sort_bytes,
    reference=reference,
    inputs=[Tensor("rows", "cols", dtype="uint8", low=0, high=256)],
    sizes={"rows": [8, 1, 5, 0], "cols": [64, 1, 300]},
)
