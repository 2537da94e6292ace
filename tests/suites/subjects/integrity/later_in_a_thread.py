"""A thread computes the result when the call has returned."""

import threading
import time

import torch
from honest import first_kernel, subject_of

def compute(x: torch.Tensor, out: torch.Tensor) -> None:
    time.sleep(0.01)
    out.copy_(torch.softmax(x, -1))


def quick_softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    first_kernel[(1,)](x, out)
    threading.Thread(target=compute, args=(x.clone(), out)).start()
    return out


subject = subject_of(quick_softmax)
