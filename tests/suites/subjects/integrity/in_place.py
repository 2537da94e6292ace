"""The input is overwritten and returned."""

import torch
from honest import softmax_into, subject_of

def own_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax_into(x, x)


subject = subject_of(own_softmax)
