"""Every result but the first is the one before."""

import torch
from honest import softmax, subject_of

before = {}


def late_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x)
    key = (x.shape, x.dtype)
    last, before[key] = before.get(key, out), out
    return last.clone()


subject = subject_of(late_softmax)
