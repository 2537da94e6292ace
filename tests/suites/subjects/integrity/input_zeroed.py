"""The input is cleared, so that a reference that runs later has nothing to compute."""

import torch
from honest import softmax, subject_of

def clearing_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x)
    x.zero_()
    return out


subject = subject_of(clearing_softmax)
