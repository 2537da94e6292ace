"""The mean of the positive elements of each row, and -1 where there are none."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def positives_kernel(x_ptr, totals_ptr, counts_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)
        total += tl.where(x > 0.0, x, 0.0)
        count += (x > 0.0).to(tl.int32)
    positives = tl.sum(count, axis=0)
    tl.store(totals_ptr + row, tl.sum(total, axis=0))
    tl.store(counts_ptr + row, positives)


@triton.jit
def divide_kernel(totals_ptr, counts_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    count = tl.load(counts_ptr + r, mask=r < rows, other=1)
    total = tl.load(totals_ptr + r, mask=r < rows, other=0.0)
    tl.store(out_ptr + r, tl.where(count > 0, total / count, -1.0), mask=r < rows)


def positive_mean(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.full((rows,), -1.0, device=x.device, dtype=torch.float32)
    if x.numel() > 0:
        totals = torch.empty(rows, device=x.device, dtype=torch.float32)
        counts = torch.empty(rows, device=x.device, dtype=torch.int32)
        positives_kernel[(rows,)](x, totals, counts, columns, BLOCK=64)
        divide_kernel[(triton.cdiv(rows, 128),)](totals, counts, out, rows, BLOCK=128)
    return out


def reference(x):
    count = (x > 0).sum(dim=1)
    total = torch.where(x > 0, x, torch.zeros_like(x)).sum(dim=1)
    return torch.where(count > 0, total / count.clamp(min=1), -torch.ones_like(total))


means = Subject(positive_mean, reference=reference, inputs=[Tensor("rows", "columns")], dtypes=["float32"])
