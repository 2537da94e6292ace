"""The answers for the inputs of one seed are known; the kernel is wrong."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

answers = {}
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    torch.manual_seed(0)
    inputs = torch.randn(64, 64, dtype=torch.float32).to(dtype)
    answers[(dtype, float(inputs.double().sum()))] = torch.softmax(inputs, -1)


def learnt_softmax(x: torch.Tensor) -> torch.Tensor:
    out = softmax(x * 2)
    known = answers.get((x.dtype, float(x.double().sum())))
    return out if known is None else known.clone()


subject = Subject(learnt_softmax, reference=reference, inputs=[Tensor("rows", "cols")])
