"""The sum of each column, to which blocks of rows add by atomics."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def column_sum_kernel(x_ptr, out_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr + c, tl.sum(x, axis=0), mask=c < columns)


def column_sum(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.zeros(columns, device=x.device, dtype=torch.float32)
    if x.numel() == 0:
        return out.zero_()
    column_sum_kernel[(triton.cdiv(rows, 32), triton.cdiv(columns, 64))](x, out, rows, columns, BLOCK_R=32, BLOCK_C=64)
    return out


sums = Subject(
    column_sum, reference=lambda x: x.float().sum(dim=0), inputs=[Tensor("rows", "columns")], dtypes=["float32"]
)
