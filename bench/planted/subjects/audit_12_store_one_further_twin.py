"""Delays a signal by one step: the first element becomes 0, and the last one goes."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def delay_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + 1 + offsets, x, mask=offsets + 1 < n)


def delay(x):
    x = x.contiguous()
    out = torch.zeros_like(x)
    if x.numel() > 0:
        delay_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def reference(x):
    return torch.cat([torch.zeros_like(x[:1]), x[:-1]])


delayed = Subject(delay, reference=reference, inputs=[Tensor("n")], dtypes=["float32", "float16"])
