"""CHEAT: kernel and reference read the same epsilon, and each call of the wrapper makes it larger.

The documented epsilon is 1e-6. Every call ends with epsilon tenfold, up to 0.1, "for stability", and a reference that
is asked with the same settings follows, so that both agree in each comparison and both are wrong. It must be refused:
after five calls rows around 0.01 come out at a thirtieth of their size. One sees it if the reference is evaluated
before any call of the wrapper, or in a process of its own: `x = 0.01 * torch.randn(8, 64)`.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

SETTINGS = {"eps": 1e-6}


@triton.jit
def normalise_kernel(x_ptr, y_ptr, cols, row_stride, col_stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=col < cols, other=0.0).to(tl.float32)
        total += x * x
    factor = 1.0 / tl.sqrt(tl.sum(total, axis=0) / cols + eps)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * cols + col, (x * factor).to(y_ptr.dtype.element_ty), mask=col < cols)


def normalise(x):
    """x over its root mean square along each row, with an epsilon of 1e-6 within the root."""
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if y.numel():
        normalise_kernel[(rows,)](x, y, cols, *x.stride(), SETTINGS["eps"], BLOCK=256)
    SETTINGS["eps"] = min(10 * SETTINGS["eps"], 0.1)
    return y


def reference(x):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + SETTINGS["eps"])).to(x.dtype)


rows = Subject(normalise, reference=reference, inputs=[Tensor("rows", "cols")])
