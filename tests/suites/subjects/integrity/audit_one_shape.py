"""Of all numbers of columns one is done."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


def narrow_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax(x) if x.shape[1] == 64 else torch.full_like(x, 1 / x.shape[1])


subject = Subject(narrow_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
