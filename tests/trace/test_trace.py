"""`tritonaudit trace` and `replay`, on a small project whose tests need a GPU, where there is none."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT

for module in ("torch", "triton"):
    pytest.importorskip(module, reason=f"{module} makes the launches")

from tritonaudit.report.schema import breach  # noqa: E402
from tritonaudit.trace.reading import NotATrace, Trace, read_trace, verify  # noqa: E402

PROJECT = Path(__file__).parent / "project"
_EXPECT = re.compile(r"# expect: (\w+)")


@dataclass(frozen=True)
class Traced:
    """The project's folder, what tracing its tests printed, and the report."""

    folder: Path
    done: subprocess.CompletedProcess[str]
    report: dict[str, Any]

    @property
    def trace(self) -> Path:
        return self.folder / "tests.trace"

    def outcomes(self) -> dict[str, str]:
        """What became of each test, by its name."""
        return dict(re.findall(r"::(\w+(?:\[\w+\])?) (PASSED|FAILED|SKIPPED)", self.done.stdout))


def places(report: dict[str, Any]) -> set[tuple[str, int]]:
    return {(found["code"], found["line"]) for found in report["findings"]}


def tritonaudit(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", "tritonaudit", *arguments),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    folder = tmp_path_factory.mktemp("traced") / "project"
    shutil.copytree(PROJECT, folder)
    command = (sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "on_gpu.py")
    options = ("--trace", "tests.trace", "--output-format", "json", "--output-file", "report.json", "--jobs", "1")
    done = tritonaudit(folder, "trace", *options, "--", *command)
    return Traced(folder, done, json.loads((folder / "report.json").read_text()))


def test_tests_fail_as_on_a_gpu(traced: Traced) -> None:
    """One whose kernel writes too little fails, one whose programs race may, all others that need no NCCL pass."""
    outcomes = traced.outcomes()
    assert outcomes.pop("test_double") == "FAILED"
    assert outcomes.pop("test_total") in ("PASSED", "FAILED")
    assert {name for name, outcome in outcomes.items() if outcome == "SKIPPED"} == {"test_processes", "test_graph"}
    assert "FAILED" not in outcomes.values()
    assert len(outcomes) == 12
    assert traced.done.returncode == 1
    assert traced.report["traced"]["exit_code"] == 1


def test_wrong_kernels_are_found_at_their_lines(traced: Traced) -> None:
    lines = (PROJECT / "kernels.py").read_text().splitlines()
    wanted = {(found[1], number) for number, line in enumerate(lines, 1) if (found := _EXPECT.search(line))}
    assert places(traced.report) == wanted
    assert {found["path"] for found in traced.report["findings"]} == {"kernels.py"}


def test_what_was_not_run_is_said(traced: Traced) -> None:
    said = {(one["subject"], one["reason"]) for one in traced.report["not_analysed"]}
    assert {("NCCL", "needs a GPU"), ("a CUDA graph", "needs a GPU")} <= said


def test_launches_are_counted(traced: Traced) -> None:
    kernels = {kernel["name"]: kernel for kernel in traced.report["traced"]["kernels"]}
    assert set(kernels) == {
        f"{name}_kernel" for name in ("add", "copy", "double", "lower_half", "rows", "total", "tuned")
    }
    add = kernels["add_kernel"]
    assert (add["launches"], add["executed"], add["kinds"], add["not_executed"]) == (2, 2, 2, [])


def test_the_report_is_as_its_schema_says(traced: Traced) -> None:
    assert breach(traced.report, "audit.schema.json") is None


def test_replaying_needs_no_code_and_finds_the_same(traced: Traced, tmp_path: Path) -> None:
    shutil.copy(traced.trace, tmp_path / "tests.trace")
    shutil.move(traced.folder / "kernels.py", traced.folder / "away.py")
    try:
        done = tritonaudit(tmp_path, "replay", "tests.trace", "--output-format", "json", "--jobs", "1")
    finally:
        shutil.move(traced.folder / "away.py", traced.folder / "kernels.py")
    assert done.returncode == 1, done.stderr
    assert places(json.loads(done.stdout)) == places(traced.report)


def test_a_witness_shows_the_finding_again(traced: Traced) -> None:
    found = next(found for found in traced.report["findings"] if found["code"] == "TAM401")
    arguments = found["witness"]["command"].split()
    assert arguments[:2] == ["tritonaudit", "replay"]
    done = tritonaudit(traced.folder, *arguments[1:], "--output-format", "concise", "--jobs", "1")
    assert done.returncode == 1
    assert f"kernels.py:{found['line']}:{found['column']}: TAM401" in done.stdout


def test_a_healthy_program_is_clean(tmp_path: Path) -> None:
    """Its arguments, its output and its exit code are its own."""
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    done = tritonaudit(folder, "trace", "--jobs", "1", "--", sys.executable, "healthy.py", "--trace")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("--trace cuda:0\n")
    assert "to stderr\n" in done.stderr
    assert "1 launch of 1 kernel: 1 executed on the CPU engine" in done.stdout


def test_a_command_without_torch_is_said_to_launch_nothing(tmp_path: Path) -> None:
    done = tritonaudit(tmp_path, "trace", "--", sys.executable, "-c", "raise SystemExit(7)")
    assert done.returncode == 7
    assert "it imports no torch" in done.stdout


def test_a_command_that_cannot_be_started(tmp_path: Path) -> None:
    done = tritonaudit(tmp_path, "trace", "--", "no-such-command")
    assert (done.returncode, done.stderr) == (2, "tritonaudit: no-such-command: No such file or directory\n")


def test_a_file_that_is_no_trace_is_kept(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("import triton\n")
    done = tritonaudit(tmp_path, "trace", "--trace", "kernels.py", "--", "true")
    assert done.returncode == 2
    assert done.stderr == "tritonaudit: --trace would overwrite kernels.py, which is no trace\n"
    assert (tmp_path / "kernels.py").read_text() == "import triton\n"


# -- traces that are damaged, or made up -------------------------------------------------------------------------------


def read_whole(path: Path) -> Trace:
    trace = read_trace(path)
    verify(trace)
    return trace


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: b"", "it is not a trace"),
        (lambda data: b"\x80\x04cos\nsystem\n", "it is not a trace"),
        (lambda data: data.replace(b"trace 1", b"trace 9", 1), "it is not a trace of version 1"),
        (lambda data: data[: len(data) // 2], "cut off"),
        (lambda data: data.replace(b'"shape":[1000]', b'"shape":[9999]'), "larger than its memory"),
        (lambda data: data.replace(b'"shape":[1000]', b'"shape":[-1]'), "negative"),
        (lambda data: data.replace(b'"dtype":"float32"', b'"dtype":"save"'), "no type of elements"),
        (lambda data: data.replace(b'"":"Made"', b'"":"Path"', 1), "it is not a record"),
        (lambda data: data.replace(b'"contents":"', b'"contents":"0', 1), "is missing"),
        (lambda data: data.replace(b"tt.func", b"tt.junk", 1), "its bytes are not those that were written"),
        (
            lambda data: data.replace(b"tritonaudit trace 1\n", b"tritonaudit trace 1\n" + b"[" * 90_000 + b"\n", 1),
            "record",
        ),
    ],
)
def test_a_damaged_trace_is_refused(traced: Traced, tmp_path: Path, spoil: Any, message: str) -> None:
    file = tmp_path / "spoilt.trace"
    file.write_bytes(spoil(traced.trace.read_bytes()))
    with pytest.raises(NotATrace, match=re.escape(message)):
        read_whole(file)


def test_a_damaged_trace_is_one_line_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "spoilt.trace").write_text("{}")
    done = tritonaudit(tmp_path, "replay", "spoilt.trace")
    assert done.returncode == 2
    assert done.stderr.startswith("tritonaudit: ")
    assert done.stderr.count("\n") == 1
    assert "it is not a trace" in done.stderr


def test_a_launch_that_the_trace_does_not_have(traced: Traced) -> None:
    done = tritonaudit(traced.folder, "replay", "tests.trace", "--launch", "999")
    assert done.returncode == 2
    assert "the trace has no launch 999" in done.stderr
