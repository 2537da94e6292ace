"""A result is kept by the address of its input."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

kept = {}


def kept_softmax(x: torch.Tensor) -> torch.Tensor:
    key = (x.data_ptr(), x.shape)
    if key not in kept:
        kept[key] = softmax(x)
    return kept[key]


subject = Subject(kept_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
