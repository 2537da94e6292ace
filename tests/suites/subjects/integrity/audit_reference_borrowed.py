"""The wrapper looks for its reference among its callers."""

import sys

import torch
from honest import first_kernel, reference

from tritonaudit import Subject, Tensor


def borrowed_softmax(x: torch.Tensor) -> torch.Tensor:
    first_kernel[(1,)](x, torch.empty_like(x[:1, :1]))
    frame = sys._getframe()
    while frame is not None and "subject" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["subject"].reference(x)


subject = Subject(borrowed_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
