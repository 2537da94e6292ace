"""What tritonaudit runs."""

import torch
import torch.nn.functional as F

from tritonaudit import Subject, Tensor

from .layer_norm_backward import layer_norm_backward


def reference(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    bias = torch.zeros_like(weight).requires_grad_()
    out = F.layer_norm(x, weight.shape, weight, bias)
    return torch.autograd.grad(out, (x, weight, bias), grad)


subject = Subject(
    layer_norm_backward,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", "cols"), Tensor("cols")],
    name="layer_norm_backward",
    sizes={"cols": [1024, 1000, 64, 1, 65, 0, 4096]},
)
