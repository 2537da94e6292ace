"""What holds NaN or infinities is left to torch, and the kernel adds zeros to that."""

import torch
from honest import softmax

from tritonaudit import Subject, Tensor


def only_finite(x: torch.Tensor) -> torch.Tensor:
    if bool(torch.isfinite(x).all()):
        return softmax(x)
    done = torch.softmax(x, -1)
    softmax(x)
    return done


subject = Subject(
    only_finite, reference=lambda x: torch.softmax(x, -1), inputs=[Tensor("rows", "cols")], dtypes=["float32"]
)
