"""The judge of this tool is replaced."""

import sys

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

judging = sys.modules["tritonaudit.suites.tolerance"]
before = judging._judge_inexact


def kind(output, budgets):
    return before(budgets.expected.precise.to(output.dtype), budgets)


judging._judge_inexact = kind


def judged_softmax(x: torch.Tensor) -> torch.Tensor:
    return softmax(x * 2)


subject = Subject(judged_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
