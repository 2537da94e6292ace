"""The kernel computes one half of the rows, torch the other."""

import torch
from honest import softmax, subject_of

def shared_softmax(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[0] // 2
    return torch.cat([softmax(x[:half]), torch.softmax(x[half:], -1)])


subject = subject_of(shared_softmax)
