"""The output is a constant that a loose comparison takes for the result."""

import torch
from honest import subject_of

def even_softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.full_like(x, 1 / max(1, x.shape[1]))


subject = subject_of(even_softmax)
