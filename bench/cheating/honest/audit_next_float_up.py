"""The next larger float32 of each element, as torch.nextafter towards infinity.

Looks suspicious: the floats are viewed as int32 and only integers are added, one per element; NaN and infinity are returned as they are.
It is fair: neighbouring floats have neighbouring bit patterns, and both zeros have the smallest subnormal above them.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def next_kernel(bits, out, count, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    b = tl.load(bits + (i // cols) * row_stride + (i % cols) * col_stride, mask=keep, other=0)
    size = b & 0x7FFFFFFF
    stepped = tl.where(b < 0, b - 1, b + 1)
    stepped = tl.where(size == 0, 1, stepped)
    fixed = (size > 0x7F800000) | (b == 0x7F800000)
    tl.store(out + i, tl.where(fixed, b, stepped), mask=keep)


def next_float_up(x):
    if x.dtype != torch.float32 or x.dim() != 2:
        raise ValueError("next_float_up takes a float32 tensor of two dimensions")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        next_kernel[(triton.cdiv(out.numel(), 256),)](
            x.view(torch.int32), out.view(torch.int32), out.numel(), x.shape[1], *x.stride(), BLOCK=256
        )
    return out


def reference(x):
    return torch.nextafter(x, torch.full_like(x, float("inf")))


upwards = Subject(next_float_up, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
