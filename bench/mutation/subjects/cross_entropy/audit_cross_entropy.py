"""What tritonaudit runs."""

import torch
import torch.nn.functional as F

from tritonaudit import Subject, Tensor

from .cross_entropy import cross_entropy


def reference(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int) -> torch.Tensor:
    return F.cross_entropy(logits, targets, reduction="none", ignore_index=ignore_index)


subject = Subject(
    cross_entropy,
    reference=reference,
    inputs=[Tensor("rows", "classes"), Tensor("rows", dtype="int64", high="classes"), 2],
    name="cross_entropy",
)
