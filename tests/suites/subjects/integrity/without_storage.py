"""The output's storage is too small for it."""

import torch
from honest import softmax, subject_of

def hollow_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x)
    out.untyped_storage().resize_(4)
    return out


subject = subject_of(hollow_softmax)
