"""Which operations are named, and which files are their variants."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.port.folders import operations_named


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*paths: str) -> None:
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def test_an_operation_is_named_by_its_folder_or_alone() -> None:
    write("kernels/softmax/v1.py", "other/add/v1_baseline.py")
    operations, problems = operations_named(["softmax", "other/add", "kernels/softmax"])
    assert [(one.name, one.wrapper, len(one.files)) for one in operations] == [
        ("softmax", "triton_softmax", 1),
        ("add", "triton_add", 1),
    ]
    assert problems == ()


def test_variants_come_by_their_numbers() -> None:
    write(*(f"add/{name}.py" for name in ("v10_last", "v2_tiling", "v1_baseline", "v2_again", "value", "op", "v")))
    Path("add/v3_folder.py").mkdir()
    ((operation,), _) = operations_named(["add"])
    assert [path.stem for path in operation.files] == ["v1_baseline", "v2_again", "v2_tiling", "v10_last"]


def test_what_is_no_operation_is_a_problem_and_the_rest_goes_on() -> None:
    write("kernels/add/v1.py", "elsewhere/add/v1.py", "kernels/empty/helper.py")
    operations, problems = operations_named(["nowhere", "empty", "add", "elsewhere/add"])
    assert [one.name for one in operations] == ["add"]
    assert [problem.path for problem in problems] == ["nowhere", "kernels/empty", "elsewhere/add"]
    assert "of the same name" in problems[2].message
