"""What tritonaudit runs."""

import torch
import torch.nn.functional as F

from tritonaudit import Subject, Tensor

from .causal_conv import causal_conv


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    padded = F.pad(x, (weight.shape[1] - 1, 0))
    return F.conv1d(padded, weight[:, None, :], bias, groups=x.shape[1])


subject = Subject(
    causal_conv,
    reference=reference,
    inputs=[Tensor("batch", "channels", "length"), Tensor("channels", "width"), Tensor("channels")],
    name="causal_conv",
    sizes={"channels": [16, 3, 1], "length": [256, 1, 100, 127, 129], "width": [4, 2, 3]},
)
