"""What tritonaudit runs."""

import torch
import torch.nn.functional as F

from tritonaudit import Size, Subject, Tensor

from .group_norm import group_norm


def reference(x: torch.Tensor, groups: int, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.group_norm(x, groups, weight, bias)


subject = Subject(
    group_norm,
    reference=reference,
    inputs=[
        Tensor("batch", "groups * per_group", "length"),
        Size("groups"),
        Tensor("groups * per_group"),
        Tensor("groups * per_group"),
    ],
    name="group_norm",
    sizes={"groups": [4, 1, 3], "per_group": [8, 1, 5, 16], "length": [64, 1, 63, 65, 200]},
)
