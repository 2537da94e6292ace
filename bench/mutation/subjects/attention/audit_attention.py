"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .attention import attention


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    hidden = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).triu(1)
    return torch.softmax(scores.masked_fill(hidden, -float("inf")), dim=-1) @ v


shape = ("batch", "heads", "tokens", "head_dim")
subject = Subject(
    attention,
    reference=reference,
    inputs=[Tensor(*shape), Tensor(*shape), Tensor(*shape)],
    name="attention",
    sizes={"heads": [2, 3, 1], "tokens": [64, 1, 31, 33, 100, 256, 0], "head_dim": [64, 16, 40, 1, 80]},
)
