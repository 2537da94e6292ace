"""Where a wrapper waits for the GPU, as its source tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.capture.launch import KernelRef
from tritonaudit.gate.sources import Sources
from tritonaudit.gate.waiting import UnknownWrapper, waits

HEAD = """\
import torch
from helpers import check, fetch

def launch(x):
    kernel[(1,)](x)
    return x

"""
HELPERS = """\
import torch

def check(x):
    torch.cuda.synchronize()

def fetch(x):
    return x.max().item()
"""


def found(folder: Path, text: str, line: int | None = None) -> list[str]:
    """The calls that wait, of the first definition of the text, or of what stands at a line of it."""
    (folder / "helpers.py").write_text(HELPERS)
    file = folder / "wrapper.py"
    file.write_text(HEAD + text)
    first = HEAD.count("\n") + (line or 1)
    return [one.text for one in waits(KernelRef(str(file), "wrapper", first), Sources(folder))]


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("kernel[(1,)](x)\n    torch.cuda.synchronize()", ["torch.cuda.synchronize()"]),
        ("torch.cuda.synchronize()\n    kernel[(1,)](x)", ["torch.cuda.synchronize()"]),
        (
            "kernel[(1,)](x)\n    torch.cuda.current_stream().synchronize()",
            ["torch.cuda.current_stream().synchronize()"],
        ),
        ("kernel[(1,)](x)\n    return x.sum().item()", ["x.sum().item()"]),
        ("kernel[(1,)](x)\n    y = x.cpu()\n    kernel[(1,)](y)", ["x.cpu()"]),
        ("kernel[(1,)](x)\n    return x.to('cpu')", ["x.to('cpu')"]),
        ("launch(x)\n    return x.tolist()", ["x.tolist()"]),
        ("for i in range(4):\n        n = x.max().item()\n        kernel[(n,)](x)", ["x.max().item()"]),
        ("launch(x)\n    check(x)", ["torch.cuda.synchronize()"]),
        ("launch(x)\n    return fetch(x)", ["x.max().item()"]),
    ],
)
def test_a_needless_wait_is_found(tmp_path: Path, body: str, texts: list[str]) -> None:
    assert found(tmp_path, f"def wrapper(x):\n    {body}\n") == texts


@pytest.mark.parametrize(
    "body",
    [
        "kernel[(1,)](x)\n    return x",
        "n = x.max().item()\n    kernel[(n,)](x)\n    return x",
        "n = fetch(x)\n    kernel[(n,)](x)\n    return x",
        "kernel[(1,)](x)\n    return x.to(torch.float16)",
        "def unused():\n        torch.cuda.synchronize()\n    kernel[(1,)](x)",
    ],
)
def test_what_a_launch_needs_is_not(tmp_path: Path, body: str) -> None:
    assert found(tmp_path, f"def wrapper(x):\n    {body}\n") == []


def test_the_forward_of_a_model_and_its_methods_are_followed(tmp_path: Path) -> None:
    model = """\
class ModelNew(torch.nn.Module):
    def __init__(self):
        torch.cuda.synchronize()

    def forward(self, x):
        return self.finished(launch(x))

    def finished(self, x):
        return x.item()
"""
    assert found(tmp_path, model) == ["x.item()"]


def test_an_autograd_function_is_followed(tmp_path: Path) -> None:
    text = """\
def wrapper(x):
    return Op.apply(x)

class Op(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        kernel[(1,)](x)
        torch.cuda.synchronize()
        return x
"""
    assert found(tmp_path, text) == ["torch.cuda.synchronize()"]


def test_a_lambda_is_followed(tmp_path: Path) -> None:
    assert found(tmp_path, "wrapper = lambda x: launch(x).item()\n") == ["launch(x).item()"]


def test_a_function_that_calls_itself_ends(tmp_path: Path) -> None:
    assert found(tmp_path, "def wrapper(x):\n    return wrapper(launch(x))\n") == []


@pytest.mark.parametrize("line", [2, 99])
def test_a_wrapper_that_is_not_there(tmp_path: Path, line: int) -> None:
    with pytest.raises(UnknownWrapper):
        found(tmp_path, "def wrapper(x):\n    return x\n", line)
