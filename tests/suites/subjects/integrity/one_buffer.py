"""Every call returns the same memory."""

import torch
from honest import softmax_into, subject_of

buffers = {}


def thrifty_softmax(x: torch.Tensor) -> torch.Tensor:
    key = (x.shape, x.dtype)
    if key not in buffers:
        buffers[key] = torch.empty_like(x)
    return softmax_into(x, buffers[key])


subject = subject_of(thrifty_softmax)
