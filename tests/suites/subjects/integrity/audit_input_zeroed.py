"""The input is cleared, so that a reference that runs later has nothing to compute."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


def clearing_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x)
    x.zero_()
    return out


subject = Subject(clearing_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
