"""An operator of the user's own does the product, out of sight, and the kernel adds the bias."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

library = torch.library.Library("fast", "DEF")
library.define("product(Tensor x, Tensor weight) -> Tensor")
library.impl("product", torch.matmul, "CompositeExplicitAutograd")


@triton.jit
def bias_kernel(h_ptr, bias_ptr, out_ptr, n, cols, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    h = tl.load(h_ptr + offsets, mask=offsets < n)
    bias = tl.load(bias_ptr + offsets % cols, mask=offsets < n)
    tl.store(out_ptr + offsets, h + bias, mask=offsets < n)


def linear(x, weight, bias):
    h = torch.ops.fast.product(x, weight)
    out = torch.empty_like(h)
    if out.numel():
        bias_kernel[(triton.cdiv(out.numel(), 256),)](h, bias.contiguous(), out, out.numel(), out.shape[1], BLOCK=256)
    return out


unknown_operator = Subject(
    linear,
    reference=lambda x, weight, bias: torch.addmm(bias, x, weight),
    inputs=[Tensor("rows", "inner"), Tensor("inner", "cols"), Tensor("cols")],
    dtypes=["float32"],
)
