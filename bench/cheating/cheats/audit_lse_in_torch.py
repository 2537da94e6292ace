"""Torch finds the log-sum-exp of each row, and the kernel takes exp(x - lse), which looks like a softmax.
Refuse: all of the reduction, and an exponential of every element, is torch's; what is left for the kernel is a subtraction and an exponential
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def softmax_kernel(x_ptr, level_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    level = tl.load(level_ptr + row)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * cols + c, tl.exp(x - level).to(out_ptr.dtype.element_ty), mask=c < cols)


def softmax(x):
    assert x.ndim == 2
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    x = x.contiguous()
    rows, cols = x.shape
    out = torch.empty_like(x)
    if out.numel():
        level = torch.logsumexp(x.float(), dim=1)
        level.masked_fill_(level == float("inf"), float("nan"))
        softmax_kernel[(rows,)](x, level, out, cols, BLOCK=min(1024, triton.next_power_of_2(cols)))
    return out


def reference(x):
    return torch.softmax(x.float(), dim=-1).to(x.dtype)


rows_softmax = Subject(softmax, reference=reference, inputs=[Tensor("rows", "cols")])
