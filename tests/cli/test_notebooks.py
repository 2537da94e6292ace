"""Notebooks on the command line: places in every format, fixes, and what of one is not read."""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.notebooks import KERNEL, code, notebook, scaling
from tritonaudit.report import FORMATS

Command = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scaling(tmp_path)
    return tmp_path


def test_a_folder_with_a_notebook_has_its_findings(tritonaudit: Command, project: Path) -> None:
    ran = tritonaudit(".", "--output-format", "concise")
    assert ran.code == 1
    first, second = ran.out.splitlines()
    assert first.startswith("scale.ipynb:cell 3:9:12: TAC107 [warning] `and` with a block has been deprecated")
    assert second.startswith("scale.ipynb:cell 3:10:9: TAM101 [error] this load can run past the end")
    assert "at x.numel() = 1,025" in second


def test_the_report_shows_the_lines_of_the_cell(tritonaudit: Command, project: Path) -> None:
    out = tritonaudit("scale.ipynb", "--select", "TAM101").out
    assert "\n   9 |     mask = (offsets < n_elements)" in out
    assert "\n  10 |     x = tl.load(x_ptr + offsets)\n     |         ^^^^^^^^^^^^^^^^^^^^^^^^\n" in out
    assert "note: scale.ipynb:cell 4:8:5: by this launch" in out
    assert out.endswith("Found 1 finding (1 error) in 1 of 1 file, 1 kernel. Fixable: 1 with --fix.\n")


def test_json_has_the_cell(tritonaudit: Command, project: Path) -> None:
    report = json.loads(tritonaudit("scale.ipynb", "--select", "TAM101", "--output-format", "json").out)
    (finding,) = report["findings"]
    assert (finding["cell"], finding["line"], finding["column"]) == (3, 10, 9)
    assert [(place["cell"], place["line"]) for place in finding["related"]] == [(3, 11), (4, 8)]


def line_of(text: str) -> int:
    """The line of the file that holds a text."""
    lines = Path("scale.ipynb").read_text(encoding="utf-8").split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_sarif_has_the_line_of_the_file_and_says_the_cell(tritonaudit: Command, project: Path) -> None:
    log = json.loads(tritonaudit("scale.ipynb", "--output-format", "sarif").out)
    boolean, load = log["runs"][0]["results"]
    (location,) = load["locations"]
    region = location["physicalLocation"]["region"]
    assert region["startLine"] == line_of("x = tl.load(x_ptr + offsets)")
    raw = Path("scale.ipynb").read_text(encoding="utf-8").split("\n")[region["startLine"] - 1]
    assert raw[region["startColumn"] - 1 : region["endColumn"] - 1] == "tl.load(x_ptr + offsets)"
    assert [place["name"] for place in location["logicalLocations"]] == ["scale_kernel", "cell 3"]
    assert load["message"]["text"].startswith("cell 3, line 10: this load")
    (change,) = boolean["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["deletedRegion"]["startLine"] == line_of("and (offsets >= 0)")


def test_github_annotates_the_line_of_the_file(tritonaudit: Command, project: Path) -> None:
    out = tritonaudit("scale.ipynb", "--select", "TAM101", "--output-format", "github").out
    line = line_of("x = tl.load(x_ptr + offsets)")
    assert out.startswith(f"::error file=scale.ipynb,line={line},col=14,endLine={line},endColumn=38,title=TAM101 ")
    assert "::cell 3, line 10: this load" in out


@pytest.mark.parametrize("output_format", ["markdown", "html"])
def test_reports_for_people_show_the_cell(tritonaudit: Command, project: Path, output_format: str) -> None:
    out = tritonaudit("scale.ipynb", "--output-format", output_format).out
    assert "scale.ipynb:cell 3:10" in out
    assert "tl.load(x_ptr + offsets)" in out


@pytest.mark.parametrize("output_format", FORMATS)
def test_every_format_has_the_cell_and_the_line(tritonaudit: Command, project: Path, output_format: str) -> None:
    out = tritonaudit("scale.ipynb", "--select", "TAM101", "--output-format", output_format).out
    said = r'"cell": 3,\s+"line": 10,' if output_format == "json" else r"\bcell 3(:|, line )10\b"
    assert re.search(said, out)


def test_a_fix_changes_its_own_characters_and_nothing_else(tritonaudit: Command, project: Path) -> None:
    path = project / "scale.ipynb"
    before = path.read_bytes()
    ran = tritonaudit(path, "--fix", "--select", "TAC107")
    assert ran.out == "Fixed 1 finding. No findings in 1 file, 1 kernel.\n"
    assert path.read_bytes() == before.replace(b") and (", b") & (")
    assert b"!pip install" in before


def test_a_diff_shows_the_line_of_the_file(tritonaudit: Command, project: Path) -> None:
    diff = tritonaudit("scale.ipynb", "--diff", "--select", "TAC107").out
    assert '-    "    mask = (offsets < n_elements) and (offsets >= 0)\\n",' in diff
    assert '+    "    mask = (offsets < n_elements) & (offsets >= 0)\\n",' in diff


MATH = """\
import triton
import triton.language as tl

@triton.jit
def tanh_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements)
    tl.store(out_ptr + offsets, tl.math.tanh(x), mask=offsets < n_elements)"""
LAUNCH = "tanh_kernel[(1,)](x, out, 1024, BLOCK_SIZE=1024)"


def test_an_import_that_a_fix_adds_stands_above_its_use(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(notebook(code(MATH), code(LAUNCH), code("import triton.testing\nx = 1")))
    tritonaudit(path, "--fix", "--select", "TAC106")
    first, *others = ("".join(cell["source"]) for cell in json.loads(path.read_text())["cells"])
    assert first.startswith(
        "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n@triton.jit\n"
    )
    assert "libdevice.tanh(x)" in first
    assert others == [LAUNCH, "import triton.testing\nx = 1"]


def test_what_a_later_cell_imports_is_not_used(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    before = notebook(code(MATH), code(LAUNCH), code("from triton.language.extra import libdevice"))
    path.write_text(before)
    out = tritonaudit(path, "--fix", "--select", "TAC106").out
    assert "tl.math.tanh" in out
    assert path.read_text() == before


def test_a_comment_suppresses_in_its_cell(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(
        notebook(code("!ls"), code(KERNEL.replace("offsets >= 0)", "offsets >= 0)  # tritonaudit: ignore[TAC107] so")))
    )
    assert tritonaudit(path, "--select", "TAC107,TAX").code == 0
    path.write_text(notebook(code("!ls"), code("# tritonaudit: ignore[TAC107] so\nx = 1\n"), code(KERNEL)))
    out = tritonaudit(path, "--select", "TAC107,TAX", "--output-format", "concise").out
    assert [line.partition("]")[0] for line in out.splitlines()] == [
        f"{path}:cell 2:1:1: TAX002 [warning", f"{path}:cell 3:9:12: TAC107 [warning",
    ]  # fmt: skip


def test_a_notebook_is_read_from_the_standard_input(
    tritonaudit: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (project / "scale.ipynb").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    out = tritonaudit("-", "--stdin-filename", "other.ipynb", "--output-format", "concise").out
    assert "other.ipynb:cell 3:10:9: TAM101" in out


def test_what_is_kept_of_a_notebook_says_the_same(tritonaudit: Command, project: Path) -> None:
    assert tritonaudit("scale.ipynb") == tritonaudit("scale.ipynb") == tritonaudit("scale.ipynb", "--no-cache")


def test_a_broken_cell_is_a_problem_and_the_others_are_checked(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(notebook(code(KERNEL), code("def f(:\n    pass")))
    ran = tritonaudit(path, "--output-format", "concise")
    assert ran.code == 2
    assert f"{path}:cell 1:9:12: TAC107" in ran.out
    assert f"{path}:cell 2:1:7: TAX001" in ran.out


def test_a_diff_says_in_which_cell_a_problem_is(tritonaudit: Command, project: Path) -> None:
    (project / "n.ipynb").write_text(notebook(code(KERNEL), code("x = 1\ndef f(:\n    pass")))
    ran = tritonaudit("n.ipynb", "--diff")
    assert ran.err.startswith("tritonaudit: n.ipynb:cell 2:2: cannot be parsed: ")
    assert ran.code == 2


def test_each_broken_cell_is_a_finding_of_its_own(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(notebook(code("x = ("), code(KERNEL), code("x = ("), code("y = (")))
    findings = json.loads(tritonaudit(path, "--select", "TAX001", "--output-format", "json").out)["findings"]
    assert [one["cell"] for one in findings] == [1, 3, 4]
    assert len({one["fingerprint"] for one in findings}) == 3


def test_a_comment_of_the_whole_notebook_speaks_of_its_broken_cells(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(notebook(code("# tritonaudit: ignore-file[TAX001] a draft\n" + KERNEL), code("x = (")))
    ran = tritonaudit(path, "--select", "TAX")
    assert "TAX001" not in ran.out
    assert "TAX002" not in ran.out
    assert f"{path}:cell 2:1: problem: cannot be parsed" in ran.out
    assert ran.code == 2
    path.write_text(notebook(code("x = 1  # tritonaudit: ignore[TAX001] a draft\n" + KERNEL), code("x = (")))
    assert "TAX001" in tritonaudit(path, "--select", "TAX").out


def test_kernels_in_cells_for_other_programs_are_named(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(notebook(code(f"%%writefile kernel.py\n{KERNEL}")))
    ran = tritonaudit(path)
    assert ran.out == (
        f"{path}:cell 1: not analysed: the cell is for %%writefile, not for Python\n\n"
        "No kernel was analysed in 1 file. 1 not analysed.\n"
    )
    assert (ran.code, tritonaudit(path, "--strict").code) == (0, 2)


def test_what_is_no_notebook_is_a_problem_with_its_line(tritonaudit: Command, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text('{"cells": [\n "triton jit",, ]}')
    ran = tritonaudit(path)
    assert ran.code == 2
    assert f"{path}:2: problem: cannot be read as a notebook: it is not JSON" in ran.out
    assert ran.out.endswith("Nothing was checked. 1 file not read, 1 problem.\n")


def test_changed_lines_are_those_of_the_file(
    tritonaudit: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    assert tritonaudit(".", "--changed-since", "HEAD", "--output-format", "concise").out == ""
    path = project / "scale.ipynb"
    path.write_text(path.read_text().replace("x = tl.load(x_ptr + offsets)", "x = tl.load(offsets + x_ptr)"))
    out = tritonaudit(".", "--changed-since", "HEAD", "--output-format", "concise").out
    assert [line.split()[2] for line in out.splitlines()] == ["TAM101"]
