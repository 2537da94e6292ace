"""The answers for the inputs of one seed are known; the kernel is wrong."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

torch.manual_seed(0)
inputs = torch.randn(64, 64)
answers = {float(inputs.double().sum()): torch.softmax(inputs, -1)}


def learnt_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x * 2)
    known = answers.get(float(x.double().sum()))
    return out if known is None else known.clone()


subject = Subject(learnt_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
