"""Of a file that is run which judges, and nothing of what is judged."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from tritonaudit.capture.launch import KernelRef
from tritonaudit.subject.apart import Absent, Inseparable, judging_subject
from tritonaudit.subject.inputs import make_inputs
from tritonaudit.subject.model import Case, Subject

KERNELS = """\
raise SystemExit("what is judged was run")

def triton_twice(x):
    return 2 * x
"""
SPEC = """\
import torch
from helpers import scale, unused
from kernels import triton_twice

from tritonaudit import Subject, Tensor

FACTORS = {}
FACTORS["twice"] = 2
torch.rsqrt = None


def reference(x):
    return scale(x, FACTORS["twice"])


def made(factor, function):
    return Subject(lambda x: function(x), reference=lambda x: x * factor, inputs=[Tensor("n")])


twice = Subject(triton_twice, reference=reference, inputs=[Tensor("n")])
thrice, four_times = (Subject(triton_twice, lambda x, n=n: n * x, [Tensor("n")], name=f"times_{n}") for n in (3, 4))
"""
HELPERS = """\
import kernels


def scale(x, factor):
    return x * factor


def unused(x):
    return kernels.triton_twice(x)
"""
PAIR = """\
import torch
import triton

torch.rsqrt = None
open("was run", "w").close()


@triton.jit
def kernel(x):
    pass


class Model(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return torch.rsqrt(x * self.factor)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        kernel[(1,)](x)


SIZE = 3


def get_inputs():
    return [torch.ones(SIZE)]


def get_init_inputs():
    return [4.0]
"""


def judging(path: Path, name: str, line: int = 1) -> Subject:
    return judging_subject(path, name, Absent(KernelRef(str(path), "wrapper", line)))


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    for name, text in (("kernels", KERNELS), ("helpers", HELPERS), ("audit_twice", SPEC)):
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path / "audit_twice.py"


def given(subject: Subject) -> torch.Tensor:
    assert subject.reference is not None
    (tensor,), _ = make_inputs(subject, Case({"n": 3}, device="cpu"))
    found: torch.Tensor = subject.reference(tensor) / tensor
    return found


@pytest.mark.parametrize(("name", "factor"), [("twice", 2.0), ("times_3", 3.0), ("times_4", 4.0)])
def test_a_spec_file_is_run_without_the_functions_of_its_subjects(spec: Path, name: str, factor: float) -> None:
    subject = judging(spec, name)
    assert given(subject).tolist() == [factor] * 3
    assert "kernels" not in sys.modules
    assert torch.rsqrt is not None
    with pytest.raises(Inseparable, match="is needed to judge it"):
        subject.function(torch.ones(3))


def test_what_another_module_changes_is_not_changed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.py").write_text(PAIR)
    subject = judging(tmp_path / "pair.py", "pair")
    assert subject.reference is not None
    assert subject.reference(*make_inputs(subject, Case(device="cpu"))[0]).tolist() == [0.5] * 3
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize("declared", ["", "__all__ = ['scale']\n"])
def test_of_a_module_that_is_taken_whole_what_is_needed_is_there(spec: Path, declared: str) -> None:
    (spec.parent / "helpers.py").write_text(HELPERS + declared)
    spec.write_text(SPEC.replace("from helpers import scale, unused", "from helpers import *"))
    assert given(judging(spec, "twice")).tolist() == [2.0] * 3
    assert "kernels" not in sys.modules


def test_what_a_module_does_not_give_is_not_taken(spec: Path) -> None:
    (spec.parent / "helpers.py").write_text(HELPERS + "__all__ = ['unused']\n")
    spec.write_text(SPEC.replace("from helpers import scale, unused", "from helpers import *"))
    with pytest.raises(NameError, match="'scale' is not defined"):
        given(judging(spec, "twice"))


def test_a_module_that_the_process_has_by_now_is_the_users_all_the_same(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "helpers", ModuleType("helpers"))
    assert given(judging(spec, "twice")).tolist() == [2.0] * 3


@pytest.mark.parametrize(
    "wrapper",
    ["from kernels import scale_", "from kernels import scale_ as scale_", "def scale_(factor, gradient):\n    pass\n"],
)
def test_what_is_changed_by_intent_is_found_by_the_name_that_the_wrapper_has_for_it(
    tmp_path: Path, wrapper: str
) -> None:
    (tmp_path / "kernels.py").write_text("raise SystemExit\n\ndef scale_(factor, gradient):\n    pass\n")
    path = tmp_path / "audit_scale.py"
    path.write_text(
        f"from tritonaudit import Subject, Tensor\n{wrapper}\n\n"
        "scale = Subject(scale_, inputs=[Tensor(1), Tensor('n')], mutates=['gradient'])\n"
    )
    assert judging(path, "scale").mutates == (1,)


def test_of_a_name_that_is_bound_twice_nobody_knows_the_parameters(tmp_path: Path) -> None:
    path = tmp_path / "audit_scale.py"
    path.write_text(
        "from tritonaudit import Subject, Tensor\n\n\ndef scale_(gradient, factor):\n    pass\n\n\n"
        "def scale_(factor, gradient):\n    pass\n\n\n"
        "scale = Subject(scale_, inputs=[Tensor(1), Tensor('n')], mutates=['gradient'])\n"
    )
    with pytest.raises(Inseparable, match="mutates names 'gradient'"):
        judging(path, "scale")


def test_a_reference_that_is_the_wrapper_cannot_be_separated(tmp_path: Path) -> None:
    path = tmp_path / "audit_own.py"
    path.write_text(
        "from tritonaudit import Subject, Tensor\n\n\ndef own(x):\n    return x\n\n\n"
        "own_subject = Subject(own, reference=lambda x: own(x), inputs=[Tensor('n')])\n"
    )
    with pytest.raises(Inseparable, match="need `wrapper` itself"):
        judging(path, "own", line=4)
