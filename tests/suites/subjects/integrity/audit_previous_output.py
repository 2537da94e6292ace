"""Every result but the first is the one before."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

before = {}


def late_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x)
    key = (x.shape, x.dtype)
    last, before[key] = before.get(key, out), out
    return last.clone()


subject = Subject(late_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
