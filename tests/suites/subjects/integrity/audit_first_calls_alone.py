"""The first two calls are right."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

calls = 0


def tiring_softmax(x: torch.Tensor) -> torch.Tensor:
    global calls
    calls += 1
    return softmax(x if calls <= 2 else torch.zeros_like(x))


subject = Subject(tiring_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
