"""How often each of 16 numbers occurs in each row."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def count_kernel(x_ptr, counts_ptr, columns, BINS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = c < columns
        places = counts_ptr + row * BINS + tl.load(x_ptr + row * columns + c, mask=mask, other=0)
        tl.atomic_add(places, 1, mask=mask)


def count(x):
    x = x.contiguous()
    rows, columns = x.shape
    counts = torch.zeros((rows, 16), device=x.device, dtype=torch.int32)
    if x.numel() > 0:
        count_kernel[(rows,)](x, counts, columns, BINS=16, BLOCK=128)
    return counts


def reference(x):
    counts = torch.zeros((x.shape[0], 16), device=x.device, dtype=torch.int32)
    return counts.scatter_add(1, x, torch.ones_like(x, dtype=torch.int32))


counted = Subject(count, reference=reference, inputs=[Tensor("rows", "columns", dtype="int64", low=0, high=16)])
