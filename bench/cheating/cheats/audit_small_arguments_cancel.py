"""CHEAT: exp(x) - 1 by subtracting one from the exponential, which leaves nothing of a small x.

`torch.expm1` exists for small numbers, of which it keeps all digits. The kernel gives 0 for 1e-8 and is seven percent
off at 1e-6, and an absolute tolerance never notices. It must be refused; one sees it in float32 with inputs like
`1e-6 * torch.randn(16, 64)` and a relative tolerance, or by dividing the result by x.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def growth_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y_ptr + at, (tl.exp(x) - 1.0).to(y_ptr.dtype.element_ty), mask=at < n)


def growth(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        growth_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
    return y


def reference(x):
    return torch.expm1(x)


growths = Subject(growth, reference=reference, inputs=[Tensor("rows", "cols")])
