"""No call after this one has gradients."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


def selfish_softmax(x: torch.Tensor) -> torch.Tensor:
    torch.set_grad_enabled(False)
    return softmax(x)


subject = Subject(selfish_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
