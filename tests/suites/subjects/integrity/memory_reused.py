"""One element is written, and the rest is what the memory held before."""

import torch
from honest import first_kernel, subject_of

def lazy_softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    first_kernel[(1,)](x, out)
    return out


subject = subject_of(lazy_softmax)
