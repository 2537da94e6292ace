"""Torch computes, and a kernel copies."""

import torch
from honest import copy_kernel, subject_of

def copied_softmax(x: torch.Tensor) -> torch.Tensor:
    made = torch.softmax(x, -1)
    out = torch.empty_like(made)
    copy_kernel[(-(-x.numel() // 1024),)](made, out, x.numel(), BLOCK=1024)
    return out


subject = subject_of(copied_softmax)
