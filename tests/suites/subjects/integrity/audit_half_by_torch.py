"""The kernel computes one half of the rows, torch the other."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


def shared_softmax(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[0] // 2
    return torch.cat([softmax(x[:half]), torch.softmax(x[half:], -1)])


subject = Subject(shared_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
