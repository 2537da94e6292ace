"""Subtracts from each row its mean."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def center_kernel(x_ptr, out_ptr, columns, padded_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + lanes
        total += tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    for start in range(0, padded_columns, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * columns + c, x - mean, mask=c < columns)


def center(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty_like(x)
    if out.numel() > 0:
        center_kernel[(rows,)](x, out, columns, triton.cdiv(columns, 8) * 8, BLOCK=64)
    return out


centered = Subject(
    center,
    reference=lambda x: x - x.mean(dim=1, keepdim=True),
    inputs=[Tensor("rows", "columns")],
    dtypes=["float32"],
)
