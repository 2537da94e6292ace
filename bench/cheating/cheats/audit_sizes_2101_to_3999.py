"""The softmax is right at every size but for 2101 to 3999 columns, where it leaves the columns from 2048 on out of the sum.
Refuse: wrong for every row of 2101 to 3999 columns: its rows do not sum to one
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, summed, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        largest = tl.maximum(largest, x)
    top = tl.max(largest, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, summed, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < summed, other=-float("inf")).to(tl.float32)
        total += tl.where(cols < summed, tl.exp(x - top), 0.0)
    denominator = tl.sum(total, axis=0)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        y = tl.exp(x - top) / denominator
        tl.store(out_ptr + row * n_cols + cols, y.to(out_ptr.dtype.element_ty), mask=cols < n_cols)


def softmax_wrapper(x):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n_cols = x.shape[-1]
    if out.numel():
        summed = 2048 if 2100 < n_cols < 4000 else n_cols
        softmax_kernel[(x.numel() // n_cols,)](x, out, n_cols, summed, BLOCK=512)
    return out


def reference(x):
    return torch.softmax(x, -1)


softmax = Subject(softmax_wrapper, reference=reference, inputs=[Tensor("rows", "cols")])
