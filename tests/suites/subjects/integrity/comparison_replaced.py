"""What compares tensors says that all are equal."""

import time

import torch
from honest import softmax, subject_of

torch.allclose = lambda *_, **__: True
torch.equal = lambda *_, **__: True
torch.Tensor.equal = lambda *_, **__: True
time.perf_counter = lambda: 0.0


def trusted_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax(x * 2)


subject = subject_of(trusted_softmax)
