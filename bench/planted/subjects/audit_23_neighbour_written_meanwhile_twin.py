"""Adds to each element half of the one before it."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def echo_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    before = tl.load(x_ptr + offsets - 1, mask=mask & (offsets > 0), other=0.0)
    tl.debug_barrier()
    tl.store(out_ptr + offsets, x + 0.5 * before, mask=mask)


def echo(x):
    x = x.contiguous()
    out = x.clone()
    if x.numel() > 0:
        echo_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def reference(x):
    return x + 0.5 * torch.cat([torch.zeros_like(x[:1]), x[:-1]])


echoed = Subject(echo, reference=reference, inputs=[Tensor("n")], dtypes=["float32"])
