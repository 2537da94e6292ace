"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .softmax import softmax


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)


subject = Subject(softmax, reference=reference, inputs=[Tensor("rows", "cols")], name="softmax")
