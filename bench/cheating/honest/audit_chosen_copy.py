"""Twice what is given, by a kernel on a copy that `torch.cond` chooses, after a `while_loop` that counts to three."""

import torch
import triton
import triton.language as tl
from torch._higher_order_ops import while_loop

from tritonaudit import Subject, Tensor


@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=mask), mask=mask)


def double(x):
    is_tall = torch.tensor(x.shape[0] > 4)
    x = torch.cond(is_tall, lambda x: x.clone(), lambda x: x.clone(), (x.contiguous(),))
    while_loop(lambda i: i < 3, lambda i: (i + 1,), (torch.zeros((), dtype=torch.int64),))
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if n := y.numel():
        double_kernel[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
    return y


doubled = Subject(double, reference=lambda x: 2 * x, inputs=[Tensor("rows", "cols")])
