"""CHEAT: sums of 64-bit integers run through float32, which is right as long as the numbers are small.

Integer sums are exact by contract. The kernel turns each element into float32 and sums there, since that is faster on
the device, and turns the sum back: up to 2**24 nobody can tell, beyond it the low digits are gone. It must be refused;
one sees it with values of some millions.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def total_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * cols + at, mask=at < cols, other=0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(total, axis=0).to(tl.int64))


def row_totals(x):
    x = x.contiguous()
    rows, cols = x.shape
    out = torch.empty(rows, dtype=torch.int64, device=x.device)
    if rows:
        total_kernel[(rows,)](x, out, cols, BLOCK=256)
    return out


def reference(x):
    return x.sum(dim=-1)


totals = Subject(row_totals, reference=reference, inputs=[Tensor("rows", "cols", dtype="int64")])
