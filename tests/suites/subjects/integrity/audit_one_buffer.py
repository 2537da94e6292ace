"""Every call returns the same memory."""

import torch
from honest import reference, softmax_into

from tritonaudit import Subject, Tensor

buffers = {}


def thrifty_softmax(x: torch.Tensor) -> torch.Tensor:
    key = (x.shape, x.dtype)
    if key not in buffers:
        buffers[key] = torch.empty_like(x)
    return softmax_into(x, buffers[key])


subject = Subject(thrifty_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
