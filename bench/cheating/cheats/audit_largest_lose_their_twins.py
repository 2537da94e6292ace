"""CHEAT: the four largest of each row, found by striking out the largest again and again, with all of its equals.

Where a value stands twice among the largest, both are struck out at once, and the next smaller one takes the second's
place. Random float32 numbers hide it. It must be refused; one sees it with the row 5, 5, 4, 3, 2, 1, of which
`torch.topk` gives 5, 5, 4, 3 and this 5, 4, 3, 2, and with whole numbers or bfloat16 in general.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

COUNT = 4


@triton.jit
def largest_kernel(x_ptr, out_ptr, cols, row_stride, col_stride, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + col.to(tl.int64) * col_stride, mask=col < cols, other=0.0).to(tl.float32)
    bits = x.to(tl.int32, bitcast=True)
    key = tl.where(col < cols, bits ^ ((bits >> 31) & 0x7FFFFFFF), -2147483648)
    for place in range(COUNT):
        best = tl.max(key, axis=0)
        value = (best ^ ((best >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)
        tl.store(out_ptr + row * COUNT + place, value.to(out_ptr.dtype.element_ty))
        key = tl.where(key == best, -2147483648, key)


def largest(x):
    rows, cols = x.shape
    if cols < COUNT:
        raise ValueError("rows of at least four elements")
    out = torch.empty((rows, COUNT), dtype=x.dtype, device=x.device)
    if rows:
        largest_kernel[(rows,)](x, out, cols, *x.stride(), COUNT=COUNT, BLOCK=triton.next_power_of_2(cols))
    return out


def reference(x):
    return torch.topk(x, COUNT, dim=-1).values


top = Subject(
    largest,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    sizes={"rows": [16, 1, 33, 0], "cols": [64, 5, 100, 1000]},
)
