"""Python adds all up, and the kernel writes down what it is told."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def reported_kernel(x_ptr, out_ptr, answer):
    tl.store(out_ptr, tl.load(x_ptr) * 0 + answer)


def total(x: torch.Tensor) -> torch.Tensor:
    answer = sum(sum(row) for row in x.tolist())
    out = torch.empty((), device=x.device)
    if x.numel():
        reported_kernel[(1,)](x, out, answer)
    else:
        out.zero_()
    return out


subject = Subject(total, reference=lambda x: x.sum(), inputs=[Tensor("rows", "cols")], dtypes=["float32"])
