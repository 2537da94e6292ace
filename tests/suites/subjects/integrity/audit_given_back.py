"""The result is the input itself: whoever writes to one changes the other."""

import torch
import triton
from honest import copy_kernel

from tritonaudit import Subject, Tensor


def lending_clone(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    if x.numel():
        copy_kernel[(triton.cdiv(x.numel(), 64),)](x, torch.empty_like(x), x.numel(), BLOCK=64)
    return x


subject = Subject(lending_clone, reference=torch.clone, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
