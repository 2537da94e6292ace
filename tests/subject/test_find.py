"""Which files hold subjects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.subject.find import SubjectKind, kind_of, reference_of, subject_files, unnoticed, variants_in

SUBJECTS = ROOT / "fixtures" / "subjects"
MODEL = "class Model:\n    pass\n\n\ndef get_inputs():\n    return []\n"
NEW = "class ModelNew:\n    pass\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("audit_ops.py", "from tritonaudit import Subject\n", SubjectKind.SPEC),
        ("audit_ops.py", "if True:\n    import tritonaudit\n", SubjectKind.SPEC),
        ("audit_ops.py", "from tritonaudit import (\n", SubjectKind.SPEC),
        ("audit_log.py", "import logging\n", None),
        ("audit_log.py", "import tritonauditing\n", None),
        ("ops.py", "from tritonaudit import Subject\n", None),
        ("anything.py", NEW, SubjectKind.PAIR),
        ("anything.py", MODEL, None),
        ("anything.py", "class ModelNewer:\n    pass\n", None),
        ("softmax/v1.py", "def triton_softmax(x):\n    return x\n", SubjectKind.VARIANT),
        ("softmax/v12_wide.py", "triton_softmax = make()\n", SubjectKind.VARIANT),
        ("softmax/v1.py", "def triton_softmax_2(x):\n    return x\n", None),
        ("gelu/v1.py", "def triton_softmax(x):\n    return x\n", None),
        ("softmax/variant.py", "def triton_softmax(x):\n    return x\n", None),
    ],
)
def test_a_kind(tmp_path: Path, name: str, text: str, kind: SubjectKind | None) -> None:
    assert kind_of(write(tmp_path / name, text)) is kind


def test_a_file_that_cannot_be_read_is_of_no_kind(tmp_path: Path) -> None:
    assert kind_of(tmp_path / "audit_missing.py") is None


def test_the_fixtures() -> None:
    found = {path.relative_to(SUBJECTS).as_posix() for path in subject_files(sorted(SUBJECTS.rglob("*.py")))}
    assert found == {
        "softmax/audit_softmax.py",
        "matmul/audit_matmul.py",
        "layernorm/audit_layernorm.py",
        "varlen/audit_varlen.py",
        "in_place/audit_in_place.py",
        "kernelbench/gated_linear_new.py",
        "kernels/softmax/v1_baseline.py",
        "kernels/softmax/v2_online.py",
    }


# -- pairs ---------------------------------------------------------------------------------------------------------


def test_a_pair_in_one_file(tmp_path: Path) -> None:
    pair = write(tmp_path / "pair.py", MODEL + NEW)
    assert reference_of(pair) == pair


def test_a_pair_in_two_files(tmp_path: Path) -> None:
    pair = write(tmp_path / "new.py", NEW)
    reference = write(tmp_path / "anything.py", MODEL)
    write(tmp_path / "helpers.py", "")
    assert reference_of(pair) == reference


def test_of_several_models_the_one_of_like_name_is_meant(tmp_path: Path) -> None:
    for name in ("19_relu", "20_gelu"):
        write(tmp_path / f"{name}.py", MODEL)
        write(tmp_path / f"{name}_new.py", NEW)
    assert reference_of(tmp_path / "19_relu_new.py") == tmp_path / "19_relu.py"
    assert reference_of(tmp_path / "20_gelu_new.py") == tmp_path / "20_gelu.py"


def test_where_it_is_unknown_there_is_none(tmp_path: Path) -> None:
    pair = write(tmp_path / "new.py", NEW)
    assert reference_of(pair) is None
    write(tmp_path / "a.py", MODEL)
    write(tmp_path / "b.py", MODEL)
    assert reference_of(pair) is None


def test_variants_are_sorted() -> None:
    assert [path.name for path in variants_in(SUBJECTS / "kernels" / "softmax")] == ["v1_baseline.py", "v2_online.py"]


def test_subjects_in_a_file_of_another_name_are_noticed(tmp_path: Path) -> None:
    makes = "from tritonaudit import Subject\n\nsoftmax = Subject(print)\n"
    texts = {"softmax.py": makes, "audit_softmax.py": makes, "helper.py": "from tritonaudit import Subject\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert list(unnoticed(tmp_path / name for name in texts)) == [tmp_path / "softmax.py"]
