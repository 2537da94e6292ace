"""Torch computes, and a kernel copies."""

import torch
from honest import copy_kernel, reference

from tritonaudit import Subject, Tensor


def copied_softmax(x: torch.Tensor) -> torch.Tensor:
    made = torch.softmax(x, -1)
    out = torch.empty_like(made)
    copy_kernel[(-(-x.numel() // 1024),)](made, out, x.numel(), BLOCK=1024)
    return out


subject = Subject(copied_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
