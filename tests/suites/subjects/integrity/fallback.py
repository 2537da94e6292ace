"""A launch fails, and torch steps in."""

import torch
from honest import softmax_kernel, subject_of

def careful_softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    try:
        softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=3)
    except Exception:
        return torch.softmax(x, -1)
    return out


subject = subject_of(careful_softmax)
