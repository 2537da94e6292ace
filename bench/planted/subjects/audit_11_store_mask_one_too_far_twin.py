"""The sum of each row, a block of rows to a program."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    total = tl.zeros((BLOCK_R,), tl.float32)
    for start in range(0, columns, BLOCK_C):
        c = start + tl.arange(0, BLOCK_C)
        mask = (r < rows)[:, None] & (c < columns)[None, :]
        total += tl.sum(tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0).to(tl.float32), axis=1)
    tl.store(out_ptr + r, total.to(out_ptr.dtype.element_ty), mask=r < rows)


def row_sum(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty(rows, device=x.device, dtype=x.dtype)
    if rows > 0:
        row_sum_kernel[(triton.cdiv(rows, 16),)](x, out, rows, columns, BLOCK_R=16, BLOCK_C=64)
    return out


sums = Subject(row_sum, reference=lambda x: x.sum(dim=1), inputs=[Tensor("rows", "columns")], dtypes=["float32"])
