"""What is known of wrappers whose inputs are guessed, and what is in doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("libcst")

from tritonaudit.subject.guessed import GuessedSubject, guessed_subjects, is_guessable, uncovered

KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def copy(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    out = torch.empty_like(x)
    copy_kernel[(rows,)](x, out, rows * cols, BLOCK=64)
    return out
"""


def project(root: Path, **files: str) -> Path:
    (root / "pyproject.toml").write_text('[project]\nname = "project"\n', encoding="utf-8")
    (root / "kernels.py").write_text(KERNEL, encoding="utf-8")
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return root / "kernels.py"


def only(path: Path) -> GuessedSubject:
    (found,) = guessed_subjects(path, lambda _: len)
    return found


def test_users_may_give_what_they_like_where_nobody_in_the_project_calls_it(tmp_path: Path) -> None:
    found = only(project(tmp_path))
    assert (found.name, found.names, found.free, found.callers) == ("copy", ("x",), None, ())


def test_a_caller_that_hands_on_what_it_is_given_leaves_users_free(tmp_path: Path) -> None:
    user = "from kernels import copy\n\n\ndef twice(y):\n    return copy(y) + copy(x=y)\n"
    found = only(project(tmp_path, user=user))
    assert (found.free, found.callers) == (frozenset(("x",)), ())


@pytest.mark.parametrize(
    "body",
    ["    y = y.contiguous()\n    return copy(y)\n", "    return copy(y.contiguous())\n"],
    ids=["made", "passed"],
)
def test_callers_that_make_what_they_give_leave_a_doubt(body: str, tmp_path: Path) -> None:
    found = only(project(tmp_path, user=f"from kernels import copy\n\n\ndef user(y):\n{body}"))
    (doubt,) = found.callers
    assert found.free is None
    assert "user.py:" in doubt


def test_tests_are_no_callers(tmp_path: Path) -> None:
    test = "from kernels import copy\n\n\ndef test_it(y):\n    copy(y.contiguous())\n"
    assert only(project(tmp_path, test_copy=test)).callers == ()


@pytest.mark.parametrize(
    ("text", "is_left"),
    [
        ("from pkg import ops", True),
        ("from pkg.ops import copy", True),
        ("from .ops import copy", True),
        ("import pkg.ops as ours", True),
        ("from pkg.other import copy", False),
        ("from tritonaudit import Subject", False),
    ],
)
def test_whatever_way_a_spec_imports_them(text: str, is_left: bool, tmp_path: Path) -> None:
    path = project(tmp_path)
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").touch()
    ops = path.rename(package / "ops.py")
    spec = package / "specs.py"
    spec.write_text(f"{text}\n", encoding="utf-8")
    assert uncovered([ops], [spec]) == (() if is_left else (ops,))


def test_modules_with_a_subject_are_left_to_it(tmp_path: Path) -> None:
    path = project(tmp_path)
    assert is_guessable(path)
    spec = tmp_path / "subjects.py"
    spec.write_text("from kernels import copy\n", encoding="utf-8")
    assert uncovered([path], []) == (path,)
    assert uncovered([path], [spec]) == ()
    (tmp_path / "audit_kernels.py").write_text("from tritonaudit import Subject\n", encoding="utf-8")
    assert not is_guessable(path)
