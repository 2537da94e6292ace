"""Rows of a table, by an index of 32 bits."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def rows_kernel(index_ptr, table_ptr, out_ptr, width, BLOCK: tl.constexpr):
    item = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + item)
    row = tl.load(table_ptr + index * width + c, mask=c < width, other=0.0)  # fault: int32 overflow of an offset: an index of 32 bits by the width
    tl.store(out_ptr + item * width + c, row, mask=c < width)


def rows_of(index, table):
    index, table = index.contiguous(), table.contiguous()
    items, width = index.shape[0], table.shape[1]
    out = torch.empty((items, width), device=table.device, dtype=table.dtype)
    if out.numel() > 0:
        rows_kernel[(items, triton.cdiv(width, 256))](index, table, out, width, BLOCK=256)
    return out


gathered = Subject(
    rows_of,
    reference=lambda index, table: table[index.long()],
    inputs=[Tensor("items", dtype="int32", low=0, high="words"), Tensor("words", "width")],
    dtypes=["float32", "float16"],
)
