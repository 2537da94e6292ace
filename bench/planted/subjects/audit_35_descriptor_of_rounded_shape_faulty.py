"""Squares a matrix, by tensor descriptors; rows are multiples of 16 elements."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def square_kernel(x_ptr, out_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R
    c = tl.program_id(1) * BLOCK_C
    out_rows = tl.cdiv(rows, BLOCK_R) * BLOCK_R
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [BLOCK_R, BLOCK_C])
    target = tl.make_tensor_descriptor(out_ptr, [out_rows, columns], [columns, 1], [BLOCK_R, BLOCK_C])
    x = source.load([r, c])
    target.store([r, c], x * x)  # fault: store out of bounds: the descriptor has as many rows as the tiles


def square(x):
    rows, columns = x.shape
    assert columns % 16 == 0
    x = x.clone(memory_format=torch.contiguous_format)
    out = torch.empty_like(x)
    if x.numel() > 0:
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device=x.device, dtype=torch.int8))
        square_kernel[(triton.cdiv(rows, 16), triton.cdiv(columns, 32))](x, out, rows, columns, BLOCK_R=16, BLOCK_C=32)
    return out


squared = Subject(
    square, reference=lambda x: x * x, inputs=[Tensor("rows", "16 * groups")], dtypes=["float32", "float16"]
)
