"""The mean of each element and its neighbours; at the ends of those that there are."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def smooth_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    has_left = (offsets > 0) & (offsets < n)
    has_right = offsets + 1 < n
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    left = tl.load(x_ptr + offsets - 1, mask=has_left, other=0.0).to(tl.float32)
    right = tl.load(x_ptr + offsets + 1, mask=has_right, other=0.0).to(tl.float32)
    y = (left + x + right) / (1.0 + has_left.to(tl.float32) + has_right.to(tl.float32))
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=offsets < n)


def smooth(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel() > 0:
        smooth_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


def reference(x):
    padded = torch.nn.functional.pad(x, (1, 1))
    ones = torch.nn.functional.pad(torch.ones_like(x), (1, 1))
    return (padded[:-2] + padded[1:-1] + padded[2:]) / (ones[:-2] + ones[1:-1] + ones[2:])


smoothed = Subject(smooth, reference=reference, inputs=[Tensor("n")], dtypes=["float32"])
