"""Torch computes, and what a kernel has made is added, times nothing."""

import torch
from honest import first_kernel, reference

from tritonaudit import Subject, Tensor


def mixed_softmax(x: torch.Tensor) -> torch.Tensor:
    trifle = torch.empty_like(x[:1, :1])
    first_kernel[(1,)](x, trifle)
    return torch.softmax(x, -1) + 0.0 * trifle


subject = Subject(mixed_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
