"""`tritonaudit audit --output-format jsonl` as a process: a line for each file, as they come, also after a kill."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.hostile.subjects import KERNELS
from tests.checkout import ROOT
from tritonaudit.report.schema import breach

pytest.importorskip("torch")
pytest.importorskip("triton")

SPEC = """\
from kernels import launched, {kernel}

from tritonaudit import Subject, Tensor

it = Subject(
    lambda x: launched({kernel}, x),
    reference=lambda x: 2 * x,
    inputs=[Tensor("n")],
    sizes={{"n": [7]}},
    dtypes=["float32"],
)
"""
GROUP = 8
FILES = [f"audit_{number}.py" for number in range(GROUP + 2)]
"""More than one group of them, the last of which is wrong."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "kernels.py").write_text(KERNELS)
    for name in FILES:
        kernel = "wrong_kernel" if name == FILES[-1] else "double_kernel"
        (folder / name).write_text(SPEC.format(kernel=kernel))
    return folder


def started(project: Path, *options: str, paths: tuple[str, ...] = (".",)) -> subprocess.Popen[str]:
    parts = "correctness,memory,stability,integrity"
    fixed = ("--only", parts, "--device", "cpu", "--budget", "0.1", "--jobs", "1", "--output-format", "jsonl")
    return begun(project, "audit", *fixed, *options, *paths)


def begun(project: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command in a project, with a cache beside that."""
    return subprocess.Popen(
        [sys.executable, "-m", "tritonaudit", *arguments],
        cwd=project,
        env=surroundings(project),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def surroundings(project: Path) -> dict[str, str]:
    """The environment of a command in a project, with a cache beside that."""
    found = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    return {**os.environ, "PYTHONPATH": found, "TRITONAUDIT_CACHE": str(project.parent / "cache")}


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def lines_in(path: Path) -> list[dict[str, Any]]:
    """The lines that are written to their end: a long one comes in more than one piece."""
    text = path.read_text() if path.is_file() else ""
    return lines_of(text[: text.rfind("\n") + 1])


def test_a_killed_audit_goes_on_behind_the_lines_that_are_there(project: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    killed = started(project, "--output-file", str(results))
    deadline = time.monotonic() + 150
    while len(lines_in(results)) < GROUP:
        assert time.monotonic() < deadline, "no line comes"
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    first = lines_in(results)
    assert len(first) < len(FILES), "it was killed too late"
    with results.open("a") as file:
        file.write('{"path": "half writ')

    resumed = started(project, "--output-file", str(results), "--resume")
    _, err = resumed.communicate(timeout=170)
    assert resumed.returncode == 1, err
    lines = lines_in(results)
    assert lines[: len(first)] == first
    assert [breach(line, "line.schema.json") for line in lines] == [None] * len(lines)
    assert {line["path"]: line["verdict"] for line in lines} == {
        **dict.fromkeys(FILES[:-1], "pass"),
        FILES[-1]: "fail",
    }
    assert "10 files in" in err
    assert not any(re.search(rf"audit_{number}\.py: it: \d+ of \d+ core trials", err) for number in range(GROUP)), (
        "known"
    )

    (project / FILES[0]).write_text(SPEC.format(kernel="double_kernel") + "# edited\n")
    again = started(project, "--output-file", str(results), "--resume")
    _, err = again.communicate(timeout=170)
    assert re.search(r"audit_0\.py: it: \d+ of \d+ core trials", err)


def test_lines_hold_the_findings_of_their_file_and_the_coverage_of_its_subjects(project: Path) -> None:
    out, _ = started(project, paths=(FILES[0], FILES[-1], "kernels.py")).communicate(timeout=170)
    lines = {line["path"]: line for line in lines_of(out)}
    assert [one["code"] for one in lines[FILES[0]]["findings"]] == []
    assert "TAC401" in [one["code"] for one in lines[FILES[-1]]["findings"]]
    (subject,) = lines[FILES[0]]["ran"]["subjects"]
    assert subject["coverage"]["missing"] == []
    assert subject["coverage"]["core"]["tried"] == subject["coverage"]["core"]["of"] > 10


def test_a_file_that_cannot_be_loaded_has_an_error_and_the_others_have_their_lines(
    project: Path, tmp_path: Path
) -> None:
    broken = project / "audit_broken.py"
    broken.write_text("import tritonaudit\nraise RuntimeError('no')\n")
    try:
        process = started(project, paths=(FILES[0], broken.name))
        out, err = process.communicate(timeout=170)
    finally:
        broken.unlink()
    assert process.returncode == 2
    assert "Traceback" not in err
    lines = {line["path"]: line for line in lines_of(out)}
    assert {path: line["verdict"] for path, line in lines.items()} == {FILES[0]: "pass", broken.name: "error"}
    assert lines[broken.name]["errors"][0]["line"] == 2


def test_what_is_no_result_is_not_gone_on_behind(project: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text("my notes\n")
    process = started(project, "--output-file", str(notes), "--resume")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "notes.jsonl:1: not a line of an audit" in err
    assert notes.read_text() == "my notes\n"


def test_a_path_that_is_not_there_is_said_and_makes_the_exit_code_2(project: Path) -> None:
    process = started(project, paths=(FILES[0], "nowhere.py"))
    out, err = process.communicate(timeout=170)
    assert process.returncode == 2
    assert "nowhere.py: problem: no such file or folder" in err
    assert [(line["path"], line["verdict"]) for line in lines_of(out)] == [(FILES[0], "pass")]
