"""The output's storage is too small for it."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


def hollow_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x)
    out.untyped_storage().resize_(4)
    return out


subject = Subject(hollow_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
