"""A launch fails, and torch steps in."""

import torch
from honest import reference, softmax_kernel

from tritonaudit import Subject, Tensor


def careful_softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    try:
        softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=3)
    except Exception:
        return torch.softmax(x, -1)
    return out


subject = Subject(careful_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
