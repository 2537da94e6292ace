"""Moves each element one place towards the start; the last place becomes 0."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def advance_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    target = offsets - 1
    tl.store(out_ptr + target, x, mask=offsets < n)  # fault: store out of bounds: negative index


def advance(x):
    x = x.contiguous()
    out = torch.zeros_like(x)
    if x.numel() > 0:
        advance_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


def reference(x):
    return torch.cat([x[1:], torch.zeros_like(x[:1])])


advanced = Subject(advance, reference=reference, inputs=[Tensor("n")], dtypes=["float32", "float16"])
