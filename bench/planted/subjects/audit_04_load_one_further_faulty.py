"""The difference of each element and the next one; the last has none, and gets 0."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def difference_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    following = tl.load(x_ptr + 1 + offsets, mask=offsets < n, other=0.0)  # fault: load out of bounds: off-by-one start
    tl.store(out_ptr + offsets, tl.where(offsets + 1 < n, following - x, 0.0), mask=mask)


def difference(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel() > 0:
        difference_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


def reference(x):
    return torch.cat([x[1:] - x[:-1], torch.zeros_like(x[:1])])


differences = Subject(difference, reference=reference, inputs=[Tensor("n")], dtypes=["float32", "float16"])
