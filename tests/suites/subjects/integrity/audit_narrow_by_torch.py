"""In float32 the kernel does the work, in 16 bits torch does it alone."""

import torch
from honest import softmax

from tritonaudit import Subject, Tensor


def only_wide(x: torch.Tensor) -> torch.Tensor:
    return softmax(x) if x.dtype == torch.float32 else torch.softmax(x, -1)


subject = Subject(
    only_wide,
    reference=lambda x: torch.softmax(x, -1),
    inputs=[Tensor("rows", "cols")],
    dtypes=["float32", "bfloat16"],
)
