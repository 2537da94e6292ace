"""Tensors that a wrapper makes on the current GPU."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tritonaudit.kernel.devices import fixed_device
from tritonaudit.kernel.launch import launches_of
from tritonaudit.source.outline import outline

TEXT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr):
    pass


@triton.jit
def later_kernel(x_ptr, y_ptr):
    pass


"""


def made(wrapper: str, kernel: int = 0) -> list[str]:
    """What is made on the current GPU, and what is so too."""
    module = outline("/nowhere/m.py", TEXT + textwrap.dedent(wrapper))
    function = module.jit[kernel]
    found = fixed_device(module, function, launches_of(module).get(function, ()))
    return [] if found is None else [ast.unparse(call) for call in (found.made, *found.others)]


@pytest.mark.parametrize(
    "call",
    ["torch.empty(4, device='cuda')", "torch.zeros(4, device='cuda:1')", "torch.tensor([1]).cuda()", "n.to('cuda')"],
)
def test_what_is_made_on_the_current_gpu_beside_a_given_tensor_is_found(call: str) -> None:
    assert made(f"def run(x, n):\n    y = {call}\n    kernel[(x.numel(),)](x, y)\n") == [call]


def test_the_file_is_reported_once_at_the_first_launch() -> None:
    wrapper = """\
    def run(x: torch.Tensor):
        y = torch.empty(4, device="cuda")
        kernel[(1,)](x, y)
        later_kernel[(1,)](x.view(-1), torch.ones(4, device="cuda"))
    """
    assert made(wrapper) == ["torch.empty(4, device='cuda')", "torch.ones(4, device='cuda')"]
    assert made(wrapper, kernel=1) == []


@pytest.mark.parametrize(
    "wrapper",
    [
        "def run(x):\n    y = torch.empty(4, device=x.device)\n    kernel[(x.numel(),)](x, y)",
        "def run(x):\n    with torch.cuda.device(x.device):\n        y = x.cuda()\n        kernel[(1,)](x, y)",
        "def run(x):\n    torch.cuda.set_device(x.device)\n    y = x.cuda()\n    kernel[(x.numel(),)](x, y)",
        "def run(n):\n    x = torch.empty(n, device='cuda')\n    kernel[(n,)](x, n)",
        "def run(x):\n    y = torch.empty(4, device='cuda')\n    kernel[(x.numel(),)](x, x)\n    return y",
    ],
)
def test_what_is_made_beside_its_like_or_below_a_guard_is_not(wrapper: str) -> None:
    assert made(wrapper) == []
