"""The input is overwritten and returned."""

import torch
from honest import reference, softmax_into

from tritonaudit import Subject, Tensor


def own_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax_into(x, x)


subject = Subject(own_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
