"""What was not read is said, counted and no clean bill."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import KERNEL
from tritonaudit import engine as tritonaudit_engine

Command = Callable[..., Any]

FINE = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef one(out_ptr):\n    tl.store(out_ptr, 1)\n"
GLUON = """\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy(x_ptr, y_ptr, BLOCK: gl.constexpr):
    pass
"""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_in_wide_characters_is_a_problem(tritonaudit: Command, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "wide.py"
    path.write_bytes(FINE.encode(encoding))
    ran = tritonaudit(path)
    assert ran.code == 2
    assert f"{path}:1: problem: cannot be decoded: " in ran.out
    assert ran.out.endswith("Nothing was checked. 1 file not read, 1 problem.\n")
    assert ran.err == ""


def test_what_cannot_be_decoded_is_counted_apart_from_what_was_read(tritonaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(FINE.encode() + b"# \xe9\n")
    (tmp_path / "fine.py").write_text(FINE)
    ran = tritonaudit(tmp_path)
    assert ran.code == 2
    assert "latin.py:8: problem: cannot be decoded: the byte 0xe9 is not UTF-8" in ran.out
    assert ran.out.endswith("No findings in 1 file, 1 kernel. 1 file not read, 1 problem.\n")


def test_a_file_that_cannot_be_parsed_is_not_one_without_findings(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import triton\n@triton.jit\ndef kernel(:\n")
    ran = tritonaudit(path, "--select", "TAM101")
    assert ran.code == 2
    assert ran.out.endswith("Nothing was checked. 1 file not read, 1 problem.\n")


def test_a_file_that_is_too_large_is_not_analysed(
    tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tritonaudit_engine, "_MOST_BYTES", 10**6)
    path = tmp_path / "large.py"
    path.write_text(FINE + "# a comment\n" * 200_000)
    ran = tritonaudit(path)
    assert ran.code == 0
    assert ran.out == (
        f"{path}: not analysed: too large, 2.4 MB of at most 1 MB\n\n"
        "Nothing was checked. 1 file not read, 1 not analysed.\n"
    )
    assert tritonaudit(path, "--strict").code == 2


def test_a_kernel_in_gluon_is_named(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "g.py"
    path.write_text(GLUON)
    ran = tritonaudit(path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"{path}:6: not analysed: `copy` is written in Gluon\n\nNo kernel was analysed in 1 file. 1 not analysed.\n"
    )
    assert tritonaudit(path, "--strict").code == 2


def test_a_diff_says_what_was_not_analysed(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "g.py"
    path.write_text(GLUON)
    ran = tritonaudit(path, "--diff")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"tritonaudit: {path}:6: not analysed: `copy` is written in Gluon\n"
    assert tritonaudit(path, "--diff", "--strict").code == 2


def test_strict_asks_for_nothing_where_all_was_analysed(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "fine.py"
    path.write_text(FINE)
    assert (tritonaudit(path, "--strict").code, tritonaudit(path, "--strict").err) == (0, "")


def test_a_kernel_that_is_nested_too_deeply_is_named(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "deep.py"
    path.write_text(FINE.replace("out_ptr, 1", f"out_ptr, 1{' + 1' * 2500}"))
    ran = tritonaudit(path, "--strict")
    assert ran.code == 2
    assert "1 not analysed." in ran.out
    assert "No findings" not in ran.out


@pytest.mark.parametrize(
    "line",
    [
        f'"""{"A docstring. " * 1600}"""',
        f'tl.static_assert(True, "{"x" * 20_000}")',
        f'tl.static_print(f"{"x" * 20_000}")',
        f'tl.static_assert(True, "{"x " * 6_000}"\n                     "{"y " * 6_000}")',
    ],
    ids=["docstring", "string", "f-string", "two strings"],
)
def test_a_long_string_is_not_deep(tritonaudit: Command, tmp_path: Path, line: str) -> None:
    path = tmp_path / "long.py"
    path.write_text(KERNEL.replace("    offsets =", f"    {line}\n    offsets =") + "\n")
    ran = tritonaudit(path, "--select", "TAC107")
    assert "not analysed" not in ran.out
    assert "Found 1 finding (1 warning) in 1 of 1 file, 1 kernel." in ran.out


# -- nothing there -------------------------------------------------------------------------------------------------


def test_no_files_are_a_warning(tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").touch()
    ran = tritonaudit()
    assert (ran.code, ran.out) == (0, "Nothing was checked.\n")
    assert ran.err == "tritonaudit: warning: no Python files or notebooks found in .\n"


def test_no_kernels_are_a_warning(tritonaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print('triton jit')\n")
    (tmp_path / "b.py").touch()
    ran = tritonaudit(tmp_path)
    assert (ran.code, ran.out) == (0, "No kernels found in 2 files.\n")
    assert ran.err == "tritonaudit: warning: no Triton kernels found in 2 files\n"


def test_quiet_says_nothing_of_either(tritonaudit: Command, tmp_path: Path) -> None:
    ran = tritonaudit(tmp_path, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_a_missing_path_is_no_warning_but_a_problem(tritonaudit: Command, tmp_path: Path) -> None:
    ran = tritonaudit(tmp_path / "gone")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.endswith("Nothing was checked. 1 problem.\n")
