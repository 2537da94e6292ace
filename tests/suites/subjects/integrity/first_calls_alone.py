"""The first two calls are right."""

import torch
from honest import softmax, subject_of

calls = 0


def tiring_softmax(x: torch.Tensor) -> torch.Tensor:
    global calls
    calls += 1
    return softmax(x if calls <= 2 else torch.zeros_like(x))


subject = subject_of(tiring_softmax)
