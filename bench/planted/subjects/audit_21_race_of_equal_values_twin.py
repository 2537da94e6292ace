"""Whether anything is above 0: 1 or 0."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def any_positive_kernel(x_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    found = tl.max((x > 0.0).to(tl.int32), axis=0)
    tl.atomic_or(flag_ptr, 1, mask=found != 0)


def any_positive(x):
    x = x.contiguous()
    flag = torch.zeros((), device=x.device, dtype=torch.int32)
    if x.numel() > 0:
        any_positive_kernel[(triton.cdiv(x.numel(), 64),)](x, flag, x.numel(), BLOCK=64)
    return flag


positive = Subject(
    any_positive,
    reference=lambda x: (x > 0).any().to(torch.int32),
    inputs=[Tensor("rows", "columns")],
    dtypes=["float32", "float16"],
)
