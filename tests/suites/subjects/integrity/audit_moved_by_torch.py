"""A transposition that torch does, and a kernel that copies what is finished."""

import torch
import triton
from honest import copy_kernel

from tritonaudit import Subject, Tensor


def transpose(x: torch.Tensor) -> torch.Tensor:
    moved = x.t().contiguous()
    out = torch.empty_like(moved)
    if out.numel():
        copy_kernel[(triton.cdiv(out.numel(), 256),)](moved, out, out.numel(), BLOCK=256)
    return out


subject = Subject(transpose, reference=lambda x: x.t(), inputs=[Tensor("rows", "cols")], dtypes=["float32"])
