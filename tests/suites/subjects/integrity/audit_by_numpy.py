"""NumPy computes the result in memory of its own, of which a copy is returned; the kernel runs beside it."""

import numpy as np
import torch
from honest import first_kernel, reference

from tritonaudit import Subject, Tensor


def numpy_softmax(x: torch.Tensor) -> torch.Tensor:
    first_kernel[(1,)](x, torch.empty_like(x[:1, :1]))
    exponentials = np.exp(x.cpu().numpy())
    return torch.from_numpy(exponentials / exponentials.sum(-1, keepdims=True)).clone().to(x.device)


subject = Subject(numpy_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
