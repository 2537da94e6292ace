"""Another process computes the result in shared memory, of which a copy is returned; the kernel runs beside it."""

import os

import numpy as np
import torch
from honest import first_kernel, reference

from tritonaudit import Subject, Tensor


def shared_softmax(x: torch.Tensor) -> torch.Tensor:
    first_kernel[(1,)](x, torch.empty_like(x[:1, :1]))
    numbers, out = x.cpu(), torch.zeros(x.shape).share_memory_()
    child = os.fork()
    if not child:
        exponentials = np.exp(numbers.numpy())
        out.numpy()[...] = exponentials / exponentials.sum(-1, keepdims=True)
        os._exit(0)
    os.waitpid(child, 0)
    return out.clone().to(x.device)


subject = Subject(shared_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
