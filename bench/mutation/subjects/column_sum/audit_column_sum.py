"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .column_sum import column_sum


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.sum(x, dim=0)


subject = Subject(column_sum, reference=reference, inputs=[Tensor("rows", "cols")], name="column_sum")
