"""The spec files that are written to begin with."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT, python
from tests.subject.wrappers import COPY, IMPORTS
from tritonaudit.subject.model import Subject
from tritonaudit.subject.specs import Fate, Spec, write_specs

ADD = """\
def add(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0):
    rows, cols = x.shape
    assert x.shape == y.shape
    kernel[(1,)](x, torch.empty_like(x), x.numel(), BLOCK=64)
"""
EXPECTED = '''\
"""What tritonaudit runs of `ops`.

Guessed by `tritonaudit init`: correct what is marked as a guess, and give each subject
its reference.
"""

from tritonaudit import Subject, Tensor

from ops import add

add_subject = Subject(
    add,
    reference=None,  # what PyTorch does for the same arguments
    inputs=[
        Tensor("rows", "cols"),  # x
        Tensor("rows", "cols"),  # y
    ],
)
# Left at their defaults: alpha.
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def write(path: Path, code: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(IMPORTS + COPY + code)
    return path


def written(*modules: Path, folder: Path | None = None) -> list[Spec]:
    return list(write_specs(modules, folder))


def text_of(project: Path, code: str) -> str:
    (spec,) = written(write(project / "ops.py", code))
    assert spec.path is not None
    return spec.path.read_text()


# -- texts ---------------------------------------------------------------------------------------------------------


def test_a_spec(project: Path) -> None:
    assert text_of(project, ADD) == EXPECTED


def test_what_is_only_guessed_is_marked(project: Path) -> None:
    text = text_of(project, "def f(x, config, eps):\n    config.y\n    kernel[(1,)](x, x, x.numel(), 64)\n")
    assert '        Tensor("size"),  # x: GUESS\n' in text
    assert "        None,  # config: GUESS, nothing shows what it is\n" in text
    assert "        1e-6,  # eps: GUESS\n" in text


def test_everything_that_a_subject_can_have(project: Path) -> None:
    code = """\
class CopyFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, ids: torch.LongTensor, n_rows, mode, dtype):
        rows, head_dim = x.shape
        assert head_dim in {64, 128}
        assert n_rows == rows
        assert x.dtype == torch.float16
        assert mode in ("a", 'b"')
        kernel[(1,)](x, x, x.numel(), 64)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad
"""
    text = text_of(project, code)
    assert "import torch\n" in text
    assert "from ops import CopyFunction\n" in text
    assert "copy_subject = Subject(\n    CopyFunction.apply,\n" in text
    assert '        Tensor("size", dtype="int64"),  # ids: GUESS\n' in text
    assert '        Size("n_rows"),  # n_rows\n' in text
    assert "        torch.float32,  # dtype: GUESS\n" in text
    assert '    sizes={"head_dim": [64, 128]},\n' in text
    assert '    dtypes=["float16"],\n' in text
    assert "    mutates=[0],  # x\n" in text
    assert "    gradients=True,\n" in text


def test_names_do_not_hide_each_other(project: Path) -> None:
    wrapper = "def {}(x):\n    kernel[(1,)](x, x, x.numel(), 64)\n\n\n"
    code = "".join(wrapper.format(name) for name in ("f", "f_subject", "sum", "_max"))
    tree = ast.parse(text_of(project, code))
    variables = [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]  # type: ignore[attr-defined]
    assert variables == ["_f_subject", "f_subject_subject", "sum_subject", "_max_subject"]


def test_long_lines_are_broken_as_formatters_break_them(project: Path) -> None:
    names = ", ".join(f"a_long_name_of_dimension_{n}" for n in range(6))
    body = f"(x):\n    {names} = x.shape\n    kernel[(1,)](x, x, 1, 64)\n"
    functions = ("a_wrapper_of_quite_a_long_name_for_a_function", "another_wrapper_of_quite_a_long_name")
    code = "\n".join(f"def {name}{body}" for name in functions)
    text = text_of(project, code)
    assert "from ops import (\n    a_wrapper_of_quite_a_long_name_for_a_function,\n    another_" in text
    assert '        Tensor(\n            "a_long_name_of_dimension_0",\n' in text
    assert '            "a_long_name_of_dimension_5",\n        ),  # x\n' in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ops.py", "parcel/ops.py"])
def test_a_spec_is_as_ruff_would_have_it(project: Path, name: str) -> None:
    if "/" in name:
        write(project / "parcel" / "__init__.py", "")
    more = "def mul32(x):\n    kernel[(1,)](x, x, 1, 64)\n\n\ndef Mul8(x):\n    kernel[(1,)](x, x, 1, 64)\n"
    written(write(project / name, f"{ADD}\n\n{more}"))
    specs = list(project.rglob("audit_*.py"))
    python("-m", "ruff", "check", "--isolated", "--select", "E,F,I,W,UP,B", *specs, cwd=project)
    python("-m", "ruff", "format", "--isolated", "--check", *specs, cwd=project)


# -- files ---------------------------------------------------------------------------------------------------------


def test_a_spec_stands_beside_its_module_and_imports_it_by_its_name(project: Path) -> None:
    (project / "src" / "parcel").mkdir(parents=True)
    (project / "src" / "parcel" / "__init__.py").touch()
    module = write(project / "src" / "parcel" / "ops" / "add.py", ADD)
    (spec,) = written(module)
    assert (spec.fate, spec.path, spec.wrappers) == (Fate.WRITTEN, module.with_name("audit_add.py"), ("add",))
    assert "from parcel.ops.add import add\n" in module.with_name("audit_add.py").read_text()


def test_a_package_is_named_as_it_is(project: Path) -> None:
    (spec,) = written(write(project / "parcel" / "__init__.py", ADD))
    assert spec.path == project / "parcel" / "audit_parcel.py"
    assert "from parcel import add\n" in spec.path.read_text()


@pytest.mark.parametrize("in_packages", [True, False])
def test_specs_can_go_into_one_folder_without_hiding_each_other(project: Path, in_packages: bool) -> None:
    for name in ("a", "b") if in_packages else ():
        write(project / name / "__init__.py", "")
    modules = [write(project / name / "ops.py", ADD) for name in ("a", "b")]
    for fate in (Fate.WRITTEN, Fate.EXISTS):
        specs = written(*modules, folder=project / "out")
        assert [spec.path for spec in specs] == [project / "out" / "audit_ops.py", project / "out" / "audit_b_ops.py"]
        assert {spec.fate for spec in specs} == {fate}


def test_nothing_is_overwritten(project: Path) -> None:
    module = write(project / "ops.py", ADD)
    (project / "audit_ops.py").write_text("# mine\n")
    (spec,) = written(module)
    assert (spec.fate, spec.path) == (Fate.EXISTS, project / "audit_ops.py")
    assert (project / "audit_ops.py").read_text() == "# mine\n"


def test_modules_without_wrappers_have_no_spec(project: Path) -> None:
    assert written(write(project / "ops.py", "def f(x):\n    return x\n")) == []
    assert list(project.glob("audit_*")) == []


def test_files_that_hold_subjects_have_no_spec() -> None:
    subjects = ROOT / "fixtures" / "subjects"
    pair = subjects / "kernelbench" / "gated_linear_new.py"
    assert written(*subjects.glob("*/audit_*.py"), *subjects.glob("kernels/softmax/v*.py"), pair) == []


@pytest.mark.parametrize(
    ("name", "code", "fate", "reason"),
    [
        ("ops.py", "class Op:\n    def f(self, x):\n        kernel[(1,)](x, x, 1, 64)\n", Fate.IMPOSSIBLE, "Op.f"),
        ("19_add.py", ADD, Fate.IMPOSSIBLE, "`19_add` cannot be imported by its name"),
        ("ops.py", "def f(:\n", Fate.FAILED, "cannot be read as Python: invalid syntax (line 12)"),
    ],
)
def test_why_there_is_no_spec(project: Path, name: str, code: str, fate: Fate, reason: str) -> None:
    (spec,) = written(write(project / name, code))
    assert (spec.fate, spec.path) == (fate, None)
    assert reason in spec.reason
    assert list(project.glob("audit_*")) == []


def test_a_folder_that_cannot_be_written_to_is_said(project: Path) -> None:
    (project / "out").touch()
    (spec,) = written(write(project / "ops.py", ADD), folder=project / "out")
    assert spec.fate is Fate.FAILED
    assert "cannot write" in spec.reason


# -- what is written can be run ------------------------------------------------------------------------------------


def test_a_spec_defines_subjects(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    written(write(project / "ops_of_a_test.py", ADD))
    monkeypatch.syspath_prepend(project)
    module = importlib.import_module("audit_ops_of_a_test")
    for name in ("ops_of_a_test", "audit_ops_of_a_test"):
        monkeypatch.delitem(sys.modules, name)
    assert isinstance(module.add_subject, Subject)
    assert module.add_subject.dimensions == ("rows", "cols")
