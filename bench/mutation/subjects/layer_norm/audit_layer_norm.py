"""What tritonaudit runs."""

import torch
import torch.nn.functional as F

from tritonaudit import Subject, Tensor

from .layer_norm import layer_norm


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, weight.shape, weight, bias)


subject = Subject(
    layer_norm,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("cols"), Tensor("cols")],
    name="layer_norm",
)
