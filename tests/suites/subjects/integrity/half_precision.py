"""The kernel computes in half precision."""

import torch
from honest import softmax, subject_of

def cheap_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax(x.to(torch.float16)).to(x.dtype)


subject = subject_of(cheap_softmax)
