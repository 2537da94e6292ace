"""Parameters that no gradient comes to."""

from __future__ import annotations

import textwrap

import pytest

from tritonaudit.kernel.launch import launches_of
from tritonaudit.kernel.lost_gradients import lost_gradients
from tritonaudit.source.outline import outline

TEXT = """\
import torch
import triton
from torch import nn


@triton.jit
def kernel(x_ptr, w_ptr, y_ptr):
    pass


def run(x, w):
    y = torch.empty_like(x)
    kernel[(4,)](x, w, y)
    return y


"""


def lost(forward: str, after: str = "") -> list[str]:
    module = f"""\
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(4))
                self.scale = torch.ones(4)

            def forward(self, x):
                {forward}
        """
    outlined = outline("/nowhere/m.py", TEXT + textwrap.dedent(module) + after)
    return [found.parameter for found in lost_gradients(outlined, launches_of(outlined)[outlined.jit[-1]])]


@pytest.mark.parametrize(
    "forward", ["return run(x, self.weight)", "return run(x, w=self.weight)", "kernel[(4,)](x, self.weight, x)"]
)
def test_a_parameter_given_to_a_launch_gets_no_gradient(forward: str) -> None:
    assert lost(forward) == ["self.weight"]


@pytest.mark.parametrize(
    "forward", ["return run(x, self.scale)", "return torch.mul(x, self.weight)", "return other(x, self.weight)"]
)
def test_other_calls_and_other_tensors_are_left_alone(forward: str) -> None:
    assert lost(forward) == []


@pytest.mark.parametrize("after", ["torch.library.register_autograd('a::b', back)\n", "model.eval()\n", "# no_grad\n"])
def test_a_file_that_speaks_of_gradients_knows(after: str) -> None:
    assert lost("return run(x, self.weight)", after) == []
