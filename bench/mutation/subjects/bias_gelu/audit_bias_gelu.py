"""What tritonaudit runs."""

import torch
import torch.nn.functional as F

from tritonaudit import Subject, Tensor

from .bias_gelu import bias_gelu


def reference(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.gelu(x + bias)


subject = Subject(bias_gelu, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("cols")], name="bias_gelu")
