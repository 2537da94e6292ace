"""`tritonaudit check --fix`, `--unsafe-fixes` and `--diff`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Command
from tritonaudit.engine import text_checker

KERNEL = '''"""Copies."""

import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, M, N, BLOCK):  # a comment: é
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows >= 0) and (rows < N)  # both
    x = tl.load(x_ptr + rows, mask=mask)
    tl.store(out_ptr + rows, x, mask=mask)
'''
FIXED = KERNEL.replace("BLOCK)", "BLOCK: tl.constexpr)", 1).replace(" and ", " & ")


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with two findings that have safe fixes."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "kernel.py"
    path.write_bytes(KERNEL.encode())
    return Path("kernel.py")


def test_a_report_says_what_can_be_fixed(tritonaudit: Command, kernel: Path) -> None:
    assert "with --fix" in tritonaudit(kernel).out
    assert kernel.read_text("utf-8") == KERNEL


def test_fix_writes_the_file_and_reports_what_remains(tritonaudit: Command, kernel: Path) -> None:
    ran = tritonaudit(kernel, "--fix")
    assert kernel.read_text("utf-8") == FIXED
    assert ran.code == 0
    assert ran.out == "Fixed 2 findings. No findings in 1 file, 1 kernel.\n"
    assert tritonaudit(kernel, "--fix").out == "No findings in 1 file, 1 kernel.\n"


def test_the_edits_in_json_are_what_fix_does(tritonaudit: Command, kernel: Path) -> None:
    findings = json.loads(tritonaudit(kernel, "--output-format", "json").out)["findings"]
    lines = KERNEL.splitlines(keepends=True)
    edits = [edit for finding in findings for edit in finding["fix"]["edits"]]
    for edit in sorted(edits, key=lambda edit: (edit["line"], edit["column"]), reverse=True):
        line = lines[edit["line"] - 1]
        assert edit["end_line"] == edit["line"]
        lines[edit["line"] - 1] = line[: edit["column"] - 1] + edit["replacement"] + line[edit["end_column"] - 1 :]
    assert "".join(lines) == FIXED


@pytest.mark.parametrize(
    ("mark", "newline", "encoding"),
    [("", "\r\n", "utf-8"), ("", "\n", "utf-8-sig"), ("# coding: latin-1\n", "\r\n", "latin-1")],
)
def test_newlines_encoding_and_mode_stay(
    tritonaudit: Command, kernel: Path, mark: str, newline: str, encoding: str
) -> None:
    kernel.write_bytes((mark + KERNEL).replace("\n", newline).encode(encoding))
    kernel.chmod(0o750)
    assert tritonaudit(kernel, "--fix").code == 0
    assert kernel.read_bytes() == (mark + FIXED).replace("\n", newline).encode(encoding)
    assert kernel.stat().st_mode & 0o777 == 0o750


def test_diff_shows_the_change_and_makes_none(tritonaudit: Command, kernel: Path) -> None:
    ran = tritonaudit(kernel, "--diff")
    assert (ran.code, ran.err) == (1, "")
    assert kernel.read_text("utf-8") == KERNEL
    patched = subprocess.run(["git", "apply", "-p0"], input=ran.out.encode(), check=False)
    assert patched.returncode == 0
    assert kernel.read_text("utf-8") == FIXED
    assert tritonaudit(kernel, "--diff") == (type(ran))(0, "", "")


def test_a_diff_of_a_file_without_a_last_newline_can_be_applied(tritonaudit: Command, kernel: Path) -> None:
    text = KERNEL.rstrip("\n") + " if M > 1 and N > 1 and rows > 1 else tl.store(out_ptr, 0)"
    kernel.write_text(text)
    ran = tritonaudit(kernel, "--diff", "--unsafe-fixes")
    assert "\\ No newline at end of file\n" in ran.out
    assert subprocess.run(["git", "apply", "-p0"], input=ran.out.encode(), check=False).returncode == 0


def test_unsafe_fixes_are_asked_for(tritonaudit: Command, kernel: Path) -> None:
    unsafe = KERNEL.replace("(rows >= 0)", "M")
    kernel.write_text(unsafe, "utf-8")
    tritonaudit(kernel, "--fix")
    assert "M and (rows < N)" in kernel.read_text("utf-8")
    tritonaudit(kernel, "--fix", "--unsafe-fixes")
    assert "M & (rows < N)" in kernel.read_text("utf-8")


def test_what_is_suppressed_is_not_fixed(tritonaudit: Command, kernel: Path) -> None:
    kernel.write_text(KERNEL.replace("  # both", "  # tritonaudit: ignore[TAC107]"), "utf-8")
    tritonaudit(kernel, "--fix")
    assert "(rows >= 0) and (rows < N)" in kernel.read_text("utf-8")


def test_only_selected_rules_fix(tritonaudit: Command, kernel: Path) -> None:
    tritonaudit(kernel, "--fix", "--select", "TAC103")
    assert kernel.read_text("utf-8") == FIXED.replace(" & ", " and ")


def test_the_standard_input_goes_to_the_standard_output(
    tritonaudit: Command, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = KERNEL.replace("\n", "\r\n").encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    ran = tritonaudit("-", "--fix", "--stdin-filename", kernel)
    assert ran.code == 0
    assert ran.out == FIXED.replace("\n", "\r\n")
    assert "Fixed 2 findings." in ran.err
    assert kernel.read_text("utf-8") == KERNEL


def test_the_standard_input_without_kernels_passes_through(
    tritonaudit: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"x = 1\n")))
    ran = tritonaudit("-", "--fix")
    assert (ran.code, ran.out) == (0, "x = 1\n")


def test_a_link_out_of_the_project_is_left_alone(
    tritonaudit: Command, kernel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "kernel.py"
    outside.write_text(KERNEL, "utf-8")
    Path("pyproject.toml").touch()
    kernel.unlink()
    kernel.symlink_to(outside)
    ran = tritonaudit(kernel, "--fix")
    assert ran.code == 2
    assert "outside the project" in ran.out
    assert outside.read_text("utf-8") == KERNEL


def test_a_link_within_the_project_stays_one(tritonaudit: Command, kernel: Path) -> None:
    Path("pyproject.toml").touch()
    Path("link.py").symlink_to(kernel)
    assert tritonaudit("link.py", "--fix").code == 0
    assert Path("link.py").is_symlink()
    assert kernel.read_text("utf-8") == FIXED


def test_a_file_that_changed_meanwhile_is_left_alone(
    tritonaudit: Command, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def checker(*arguments: object) -> Callable[..., object]:
        check = text_checker(*arguments)  # type: ignore[arg-type]

        def checked(*text: object) -> object:
            kernel.write_text("x = 1\n")
            return check(*text)  # type: ignore[arg-type]

        return checked

    monkeypatch.setattr("tritonaudit.engine.text_checker", checker)
    ran = tritonaudit(kernel, "--fix")
    assert ran.code == 2
    assert "changed while it was audited" in ran.out
    assert kernel.read_text() == "x = 1\n"


def test_fixes_in_sarif(tritonaudit: Command, kernel: Path) -> None:
    log = json.loads(tritonaudit(kernel, "--output-format", "sarif").out)
    (fix,) = log["runs"][0]["results"][0]["fixes"]
    (replaced,) = fix["artifactChanges"][0]["replacements"]
    assert replaced["insertedContent"]["text"] == ": tl.constexpr"
    assert replaced["deletedRegion"] == {"startLine": 8, "startColumn": 44, "endLine": 8, "endColumn": 44}


@pytest.mark.parametrize(
    "options",
    [
        ["--fix", "--diff"],
        ["--unsafe-fixes"],
        ["--fix", "--changed-since", "HEAD"],
        ["--statistics", "--output-format", "sarif"],
    ],
)
def test_options_that_contradict_each_other(tritonaudit: Command, kernel: Path, options: list[str]) -> None:
    ran = tritonaudit(kernel, *options)
    assert (ran.code, ran.out) == (2, "")
    assert kernel.read_text("utf-8") == KERNEL


# Suppressions

SEVERAL = """import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, out_ptr, BLOCK):
    offsets = tl.arange(
        0,
        BLOCK,  # a comment of the author
    )
    x = tl.load(x_ptr + tl.arange(0, 96)) + tl.load(y_ptr + tl.arange(0, 48))  # both
    tl.store(out_ptr + tl.arange(0, 24), x)  # tritonaudit: ignore[TAC103] why not
"""


def test_suppressions_are_written_with_their_reason(tritonaudit: Command, tmp_path: Path) -> None:
    file = tmp_path / "copy.py"
    file.write_bytes(SEVERAL.replace("\n", "\r\n").encode())
    shown = tritonaudit(file, "--add-ignore", "judged by hand", "--diff", "--select", "TAC102,TAC103")
    assert (shown.code, file.read_bytes()) == (1, SEVERAL.replace("\n", "\r\n").encode())
    ran = tritonaudit(file, "--add-ignore", "judged by hand", "--select", "TAC102,TAC103")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Suppressed 4 findings. No findings in 1 file, 1 kernel.\n"
    assert file.read_bytes().decode().splitlines()[9:] == [
        "    )  # tritonaudit: ignore[TAC103] judged by hand",
        "    x = tl.load(x_ptr + tl.arange(0, 96)) + tl.load(y_ptr + tl.arange(0, 48))  # both"
        "  # tritonaudit: ignore[TAC102] judged by hand",
        "    tl.store(out_ptr + tl.arange(0, 24), x)  # tritonaudit: ignore[TAC103, TAC102] why not",
    ]
    assert tritonaudit(file, "--select", "TAC102,TAC103").out == "No findings in 1 file, 1 kernel.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--add-ignore", " "),
        ("--add-ignore", "two\nlines"),
        ("--add-ignore", "# why"),
        ("--add-ignore", "why", "--fix"),
    ],
)
def test_a_reason_fits_into_a_comment(tritonaudit: Command, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "copy.py"
    file.write_text(SEVERAL)
    ran = tritonaudit(file, *arguments)
    assert (ran.code, ran.out, file.read_text()) == (2, "", SEVERAL)
    assert "--add-ignore" in ran.err
