"""A thread computes the result, where the calling thread's eyes do not reach."""

import threading

import torch
from honest import first_kernel, reference

from tritonaudit import Subject, Tensor


def hidden_softmax(x: torch.Tensor) -> torch.Tensor:
    found = []
    first_kernel[(1,)](x, torch.empty_like(x[:1, :1]))
    thread = threading.Thread(target=lambda: found.append(torch.softmax(x, -1)))
    thread.start()
    thread.join()
    return found[0]


subject = Subject(hidden_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
