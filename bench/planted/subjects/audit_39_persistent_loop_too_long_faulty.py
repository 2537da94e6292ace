"""The sum of each column, by at most 8 programs that go over the rows in turns."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def column_sum_kernel(x_ptr, parts_ptr, rows, columns, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for row in range(pid, rows + 1, tl.num_programs(0)):
        acc += tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)  # fault: load out of bounds: the persistent loop goes one row too far
    tl.store(parts_ptr + pid * columns + c, acc, mask=c < columns)


def column_sum(x):
    x = x.contiguous()
    rows, columns = x.shape
    programs = min(rows, 8)
    parts = torch.empty((programs, columns), device=x.device, dtype=torch.float32)
    if x.numel() > 0:
        column_sum_kernel[(programs, triton.cdiv(columns, 128))](x, parts, rows, columns, BLOCK=128)
    return parts.sum(dim=0)


sums = Subject(column_sum, reference=lambda x: x.sum(dim=0), inputs=[Tensor("rows", "columns")], dtypes=["float32"])
