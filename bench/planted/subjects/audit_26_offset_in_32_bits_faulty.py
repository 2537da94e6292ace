"""Multiplies each row by a number of its own."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def scale_rows_kernel(x_ptr, scale_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    scale = tl.load(scale_ptr + row)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)  # fault: int32 overflow of an offset
    tl.store(out_ptr + row.to(tl.int64) * columns + c, x * scale, mask=c < columns)


def scale_rows(x, scale):
    x, scale = x.contiguous(), scale.contiguous()
    rows, columns = x.shape
    out = torch.empty_like(x)
    if x.numel() > 0:
        scale_rows_kernel[(rows, triton.cdiv(columns, 1024))](x, scale, out, columns, BLOCK=1024)
    return out


scaled = Subject(
    scale_rows,
    reference=lambda x, scale: x * scale[:, None],
    inputs=[Tensor("rows", "columns"), Tensor("rows")],
    dtypes=["float32", "float16"],
)
