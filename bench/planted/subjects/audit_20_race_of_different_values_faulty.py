"""The largest of each column of an integer matrix, over blocks of rows."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def column_max_kernel(x_ptr, out_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask, other=-2147483648)
    tl.store(out_ptr + c, tl.max(x, axis=0), mask=c < columns)  # fault: race: programs store different values to one place


def column_max(x):
    assert x.dtype == torch.int32 and x.shape[0] > 0
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.full((columns,), -(2**31), device=x.device, dtype=torch.int32)
    if columns > 0:
        column_max_kernel[(triton.cdiv(rows, 16), triton.cdiv(columns, 32))](
            x, out, rows, columns, BLOCK_R=16, BLOCK_C=32
        )
    return out


largest = Subject(
    column_max,
    reference=lambda x: x.amax(dim=0),
    inputs=[Tensor("rows", "columns", dtype="int32", low=-1000, high=1000)],
)
