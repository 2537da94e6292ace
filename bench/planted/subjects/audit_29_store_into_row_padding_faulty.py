"""Adds 1 to a matrix, into rows that begin at multiples of 32 elements."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def add_one_kernel(x_ptr, out_ptr, rows, columns, pitch, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0)
    stored = (r < rows)[:, None] & (c < pitch)[None, :]
    tl.store(out_ptr + r[:, None] * pitch + c[None, :], x + 1.0, mask=stored)  # fault: store out of bounds: past a row into its padding


def add_one(x):
    x = x.contiguous()
    rows, columns = x.shape
    pitch = triton.cdiv(columns, 32) * 32
    out = torch.zeros((rows, pitch), device=x.device, dtype=x.dtype)[:, :columns]
    if x.numel() > 0:
        add_one_kernel[(triton.cdiv(rows, 8), triton.cdiv(columns, 64))](
            x, out, rows, columns, pitch, BLOCK_R=8, BLOCK_C=64
        )
    return out


added = Subject(add_one, reference=lambda x: x + 1, inputs=[Tensor("rows", "columns")], dtypes=["float32", "float16"])
