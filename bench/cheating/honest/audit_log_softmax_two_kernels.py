"""Log-softmax. Rows that fit into one block take a kernel that reads them once; wider rows, and rows for which the
device turns out to be too small, take a slower kernel that reads them three times. Both are Triton's."""

import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

from tritonaudit import Subject, Tensor

WIDEST = 1024


@triton.jit
def whole_rows_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    shifted = x - tl.max(x, axis=0)
    level = tl.log(tl.sum(tl.where(c < cols, tl.exp(shifted), 0.0), axis=0))
    tl.store(out_ptr + row * cols + c, (shifted - level).to(out_ptr.dtype.element_ty), mask=c < cols)


@triton.jit
def long_rows_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        top = tl.maximum(top, tl.load(x_ptr + row * cols + c, mask=c < cols, other=-float("inf")).to(tl.float32))
    largest = tl.max(top, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        total += tl.where(c < cols, tl.exp(x - largest), 0.0)
    level = tl.log(tl.sum(total, axis=0))
    for start in range(0, cols, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        result = x - largest - level
        tl.store(out_ptr + row * cols + c, result.to(out_ptr.dtype.element_ty), mask=c < cols)


def log_softmax(x):
    assert x.ndim == 2
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    x = x.contiguous()
    rows, cols = x.shape
    out = torch.empty_like(x)
    if out.numel() == 0:
        return out
    if cols <= WIDEST:
        try:
            whole_rows_kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
            return out
        except OutOfResources:
            pass
    long_rows_kernel[(rows,)](x, out, cols, BLOCK=512)
    return out


def reference(x):
    return torch.log_softmax(x.float(), dim=-1).to(x.dtype)


log_probabilities = Subject(log_softmax, reference=reference, inputs=[Tensor("rows", "cols")])
