"""Scales each column of a matrix."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def scale_columns_kernel(x_ptr, scale_ptr, out_ptr, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows < m)[:, None] & (columns < n)[None, :]
    scale = tl.load(scale_ptr + columns, mask=columns < m, other=0.0)  # fault: load out of bounds: mask on the wrong axis
    x = tl.load(x_ptr + rows[:, None] * n + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * n + columns[None, :], x * scale[None, :], mask=mask)


def scale_columns(x, scale):
    x, scale = x.contiguous(), scale.contiguous()
    m, n = x.shape
    out = torch.empty_like(x)
    if x.numel() > 0:
        scale_columns_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](x, scale, out, m, n, BLOCK_M=16, BLOCK_N=32)
    return out


scaled = Subject(
    scale_columns,
    reference=lambda x, scale: x * scale,
    inputs=[Tensor("rows", "columns"), Tensor("columns")],
    dtypes=["float32", "float16"],
)
