"""The subject's reference reads as torch's functional softmax, but F is a class of this file's whose softmax is the wrapper itself: the kernel is compared with itself.
Refuse: the kernel leaves the division by the row's sum to a guess (the number of columns), and no independent reference is there to say so
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        y = tl.exp(x - 0.5) / n_cols
        tl.store(out_ptr + row * n_cols + cols, y.to(out_ptr.dtype.element_ty), mask=cols < n_cols)


class F:
    @staticmethod
    def softmax(x, dim=-1):
        x = x.contiguous()
        out = torch.empty_like(x)
        if out.numel():
            softmax_kernel[(out.numel() // x.shape[-1],)](x, out, x.shape[-1], BLOCK=512)
        return out


def softmax(x):
    return F.softmax(x, dim=-1)


def reference(x):
    return F.softmax(x.float(), dim=-1).to(x.dtype)


rows = Subject(softmax, reference=reference, inputs=[Tensor("rows", "cols")])
