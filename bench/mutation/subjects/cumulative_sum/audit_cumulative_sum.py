"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .cumulative_sum import cumulative_sum


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.cumsum(x, dim=-1)


subject = Subject(cumulative_sum, reference=reference, inputs=[Tensor("rows", "cols")], name="cumulative_sum")
