"""What compares tensors says that all are equal."""

import time

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

torch.allclose = lambda *_, **__: True
torch.equal = lambda *_, **__: True
torch.Tensor.equal = lambda *_, **__: True
time.perf_counter = lambda: 0.0


def trusted_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax(x * 2)


subject = Subject(trusted_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
