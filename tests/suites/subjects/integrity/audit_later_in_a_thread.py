"""A thread computes the result when the call has returned."""

import threading
import time

import torch
from honest import first_kernel, reference

from tritonaudit import Subject, Tensor


def compute(x: torch.Tensor, out: torch.Tensor) -> None:
    time.sleep(0.05)
    out.copy_(torch.softmax(x, -1))


def quick_softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    first_kernel[(1,)](x, out)
    threading.Thread(target=compute, args=(x.clone(), out)).start()
    return out


subject = Subject(quick_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
