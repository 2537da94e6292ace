"""The dot product of each row of two matrices."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def row_dot_kernel(x_ptr, y_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + row * columns + c, mask=c < columns, other=0.0).to(tl.float32)
        total += tl.where(c < columns, x * y, 0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0).to(out_ptr.dtype.element_ty))


def row_dot(x, y):
    assert x.shape == y.shape
    x, y = x.contiguous(), y.contiguous()
    rows, columns = x.shape
    out = torch.empty(rows, device=x.device, dtype=x.dtype)
    if rows > 0:
        row_dot_kernel[(rows,)](x, y, out, columns, BLOCK=128)
    return out


dot = Subject(
    row_dot,
    reference=lambda x, y: (x * y).sum(dim=1),
    inputs=[Tensor("rows", "columns"), Tensor("rows", "columns")],
    dtypes=["float32"],
)
