"""The output is a constant that a loose comparison takes for the result."""

import torch
from honest import reference

from tritonaudit import Subject, Tensor


def even_softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.full_like(x, 1 / max(1, x.shape[1]))


subject = Subject(even_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
