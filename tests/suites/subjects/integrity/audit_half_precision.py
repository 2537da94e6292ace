"""The kernel computes in half precision."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


def cheap_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax(x.to(torch.float16)).to(x.dtype)


subject = Subject(cheap_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
