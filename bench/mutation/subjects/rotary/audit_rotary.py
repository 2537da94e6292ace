"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .rotary import rotary


def reference(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    cos, sin = cos[:, None, :], sin[:, None, :]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


subject = Subject(
    rotary,
    reference=reference,
    inputs=[Tensor("batch", "tokens", "heads", "2 * half"), Tensor("tokens", "half"), Tensor("tokens", "half")],
    name="rotary",
    sizes={"tokens": [16, 1, 33, 0], "heads": [8, 3, 1, 5], "half": [32, 20, 1, 64]},
)
