"""Files into subjects, and what goes wrong on the way, at the user's line."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from tests.checkout import ROOT  # noqa: E402
from tritonaudit.subject.inputs import call, make_inputs  # noqa: E402
from tritonaudit.subject.load import LoadError, load_subjects  # noqa: E402
from tritonaudit.subject.model import Case, Tensor  # noqa: E402
from tritonaudit.subject.sweep import compile_cases  # noqa: E402

SUBJECTS = ROOT / "fixtures" / "subjects"
HEAD = "from tritonaudit import Subject, Tensor\n"


ASKS_FOR_A_GPU = pytest.mark.skipif(
    tuple(map(int, triton.__version__.split(".")[:2])) < (3, 4),
    reason="an autotuned kernel of earlier Triton versions asks for a GPU when it is defined; workers have a stand-in",
)


@pytest.fixture(autouse=True)
def _as_before(tmp_path: Path) -> Iterator[None]:
    """Loading is for workers: what it does to this process is undone."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith((str(tmp_path), str(SUBJECTS))):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def refusal(path: Path) -> LoadError:
    with pytest.raises(LoadError) as caught:
        load_subjects(path)
    return caught.value


# -- spec files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("softmax/audit_softmax.py", ["softmax"]),
        pytest.param("matmul/audit_matmul.py", ["matmul"], marks=ASKS_FOR_A_GPU),
        ("layernorm/audit_layernorm.py", ["layer_norm"]),
        ("varlen/audit_varlen.py", ["by_function", "by_offsets"]),
        ("in_place/audit_in_place.py", ["add_scaled"]),
        ("kernelbench/gated_linear_new.py", ["gated_linear_new"]),
        ("kernels/softmax", ["softmax/v1_baseline", "softmax/v2_online"]),
        ("kernels/softmax/v2_online.py", ["softmax/v2_online"]),
    ],
)
def test_the_fixtures_are_loaded(path: str, names: list[str]) -> None:
    subjects = load_subjects(SUBJECTS / path)
    assert [subject.name for subject in subjects] == names
    assert all(subject.reference is not None for subject in subjects)
    assert all(compile_cases(subject) for subject in subjects)


def test_every_subject_of_a_file_is_loaded_once(tmp_path: Path) -> None:
    text = "a = again = Subject(len)\nb = Subject(len, name='named')\nc_subject = Subject(len)\nn = 3\n"
    assert [s.name for s in load_subjects(write(tmp_path / "audit_x.py", HEAD + text))] == ["a", "named", "c"]


def test_a_spec_imports_what_stands_beside_it(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        write(tmp_path / folder / "wrapper.py", f"def f(x):\n    return '{folder}'\n")
        write(tmp_path / folder / "audit_f.py", HEAD + "from wrapper import f\nf_ = Subject(f)\n")
    loaded = [load_subjects(tmp_path / folder / "audit_f.py")[0] for folder in ("first", "second", "first")]
    assert [subject.function(0) for subject in loaded] == ["first", "second", "first"]


def test_a_spec_of_a_package_is_imported_as_a_part_of_it(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "")
    write(tmp_path / "src" / "parcel" / "__init__.py", "")
    write(tmp_path / "src" / "parcel" / "ops" / "f.py", "from ..helpers import g\n\n\ndef f(x):\n    return g(x)\n")
    write(tmp_path / "src" / "parcel" / "helpers.py", "def g(x):\n    return x + 1\n")
    inside = write(tmp_path / "src" / "parcel" / "ops" / "audit_f.py", HEAD + "from .f import f\ns = Subject(f)\n")
    outside = write(tmp_path / "audits" / "audit_f.py", HEAD + "from parcel.ops.f import f\ns = Subject(f)\n")
    for spec in (inside, outside):
        assert load_subjects(spec)[0].function(1) == 2


def test_a_file_may_be_named_with_a_path_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "audit_x.py", HEAD + "s = Subject(len)\n")
    monkeypatch.chdir(tmp_path)
    assert load_subjects(Path("audit_x.py"))[0].name == "s"


# -- what goes wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "defines no Subject: write `NAME = Subject", None),
        ("def f(:\n", "SyntaxError: invalid syntax", 2),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'", 2),
        ("\n\n1 / 0\n", "ZeroDivisionError: division by zero", 4),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3", 3),
        ("s = Subject(len, dtypes=['fp16'])\n", "ValueError: unknown dtype 'fp16'", 2),
        ("s = Subject(\n    len,\n    inputs=[Tensor('n', -1)],\n)\n", "ValueError: -1 is not a dimension", 4),
        ("a = Subject(len, name='x')\nb = Subject(max, name='x')\n", "2 subjects are named 'x'", None),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, message: str, line: int | None) -> None:
    path = write(tmp_path / "audit_x.py", HEAD + text)
    error = refusal(path)
    assert message in error.message
    assert "\n" not in error.message
    assert (error.path, error.line) == (str(path), line)
    assert str(error).startswith(f"{path}:{line}: " if line else f"{path}: ")


def test_the_line_is_the_innermost_of_the_users(tmp_path: Path) -> None:
    broken = write(tmp_path / "wrapper.py", "import json\n\njson.loads('{')\n")
    path = write(tmp_path / "audit_x.py", HEAD + "import wrapper\n")
    error = refusal(path)
    assert "JSONDecodeError" in error.message
    assert (error.path, error.line) == (str(broken), 3)


def test_an_error_can_be_sent_from_a_worker() -> None:
    error = pickle.loads(pickle.dumps(LoadError("no", "a.py", 3)))
    assert (error.message, error.path, error.line) == ("no", "a.py", 3)


def test_a_file_that_failed_can_be_mended_and_loaded(tmp_path: Path) -> None:
    path = write(tmp_path / "audit_x.py", HEAD + "1 / 0\n")
    refusal(path)
    write(path, HEAD + "s = Subject(len)  # fixed\n")
    assert load_subjects(path)[0].name == "s"


def test_a_module_of_the_same_name_from_elsewhere_is_not_taken_for_it(tmp_path: Path) -> None:
    write(tmp_path / "json" / "__init__.py", "")
    path = write(tmp_path / "json" / "audit_x.py", HEAD + "s = Subject(len)\n")
    error = refusal(path)
    assert "json.audit_x" in error.message


def test_a_folder_without_variants(tmp_path: Path) -> None:
    assert "no file here is a variant" in refusal(tmp_path).message


# -- pairs ---------------------------------------------------------------------------------------------------------


def test_both_models_of_a_pair_have_the_same_parameters() -> None:
    (subject,) = load_subjects(SUBJECTS / "kernelbench" / "gated_linear_new.py")
    cases = compile_cases(subject)
    assert [case.label for case in cases] == ["float32"]
    new, reference = subject.function, subject.reference
    assert reference is not None
    (x,), _ = make_inputs(subject, Case(device="cpu"))
    out = call(reference, (x,), {}, gradients=False)
    assert out.shape == (128, 1000)
    assert not out.requires_grad
    built = [model._build("cpu").linear.weight for model in (new, reference)]  # type: ignore[attr-defined]
    assert (built[0] == built[1]).all()


def test_a_pair_without_its_model(tmp_path: Path) -> None:
    error = refusal(write(tmp_path / "new.py", "class ModelNew:\n    pass\n"))
    assert "`ModelNew` needs `Model` and `get_inputs`" in error.message


# -- variants ------------------------------------------------------------------------------------------------------


def test_a_variants_inputs_are_guessed_and_its_reference_is_torchs() -> None:
    import torch

    (subject,) = load_subjects(SUBJECTS / "kernels" / "softmax" / "v1_baseline.py")
    assert subject.reference is torch.nn.functional.softmax
    x, dim = subject.inputs  # type: ignore[misc]
    assert isinstance(x, Tensor)
    assert dim == -1


WRAPPER = "import triton\n\n\n@triton.jit\ndef kernel(x_ptr):\n    pass\n\n\ndef triton_layernorm(x, w, b):\n    {}\n"


def test_a_variants_inputs_are_those_of_make_inputs_in_its_folder(tmp_path: Path) -> None:
    import torch

    write(tmp_path / "layernorm" / "v1.py", WRAPPER.format("kernel[(1,)](x)"))
    write(tmp_path / "layernorm" / "cases.py", "def make_inputs(size):\n    return size, 1, 2\n")
    (subject,) = load_subjects(tmp_path / "layernorm")
    assert subject.reference is torch.nn.functional.layer_norm
    assert make_inputs(subject, Case({"size": 7}, device="cpu")) == ((7, 1, 2), {})


def test_an_operation_that_torch_has_not_has_no_reference(tmp_path: Path) -> None:
    path = write(tmp_path / "frobnicate" / "v1.py", "def triton_frobnicate(x):\n    return x\n")
    (subject,) = load_subjects(path)
    assert subject.reference is None
