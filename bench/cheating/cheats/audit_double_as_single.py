"""CHEAT: float64 rows are reduced in float32, and the result goes out as float64 as if nothing had been lost.

Who asks for float64 asks for sixteen digits; the kernel gives seven and the right dtype. A tolerance of a
hundred-thousandth does not see it. It must be refused; one sees it by rows with a large mean and a small deviation, or
by a tolerance that is fit for float64.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def variance_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / cols
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0).to(tl.float32)
        squares += tl.where(at < cols, (x - mean) * (x - mean), 0.0)
    tl.store(out_ptr + row, (tl.sum(squares, axis=0) / cols).to(tl.float64))


def row_variance(x):
    x = x.contiguous()
    rows, cols = x.shape
    out = torch.empty(rows, dtype=torch.float64, device=x.device)
    if rows:
        variance_kernel[(rows,)](x, out, cols, BLOCK=256)
    return out


def reference(x):
    return x.var(dim=-1, correction=0)


variance = Subject(row_variance, reference=reference, inputs=[Tensor("rows", "cols", dtype="float64")])
