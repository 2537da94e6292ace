"""The softmax of each row, in one block."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * columns + c, y.to(out_ptr.dtype.element_ty), mask=c < columns)


def softmax(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty_like(x)
    if x.numel() > 0:
        block = triton.next_power_of_2(columns)
        softmax_kernel[(rows,)](x, out, columns, BLOCK=block)
    return out


softmaxes = Subject(
    softmax,
    reference=lambda x: torch.softmax(x, dim=1),
    inputs=[Tensor("rows", "columns")],
    sizes={"columns": [0, 1, 2, 63, 64, 65, 1000, 1024, 1025, 3000]},
    dtypes=["float32", "float16"],
)
