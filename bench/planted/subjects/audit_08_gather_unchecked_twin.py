"""Rows of a table; the index -1 stands for padding, of which zeros come."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def gather_kernel(index_ptr, table_ptr, out_ptr, width, BLOCK: tl.constexpr):
    item = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + item)
    row = tl.load(table_ptr + index * width + c, mask=(c < width) & (index >= 0), other=0.0)
    tl.store(out_ptr + item * width + c, tl.where(index >= 0, row, 0.0), mask=c < width)


def gather(index, table):
    index, table = index.contiguous(), table.contiguous()
    items, width = index.shape[0], table.shape[1]
    out = torch.empty((items, width), device=table.device, dtype=table.dtype)
    if out.numel() > 0:
        gather_kernel[(items, triton.cdiv(width, 64))](index, table, out, width, BLOCK=64)
    return out


def reference(index, table):
    rows = table[index.clamp(min=0)]
    return torch.where((index >= 0)[:, None], rows, torch.zeros_like(rows))


lookup = Subject(
    gather,
    reference=reference,
    inputs=[Tensor("items", dtype="int64", low=-1, high="words"), Tensor("words", "width")],
    dtypes=["float32", "float16"],
)
