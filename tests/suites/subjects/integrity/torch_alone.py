"""There is no kernel."""

import torch
from honest import subject_of

def plain_softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


subject = subject_of(plain_softmax)
