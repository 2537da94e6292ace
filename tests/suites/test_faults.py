"""Subjects that kill their processes, or worse: they cost themselves a case, and the subjects beside them nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from bench.hostile.subjects import honest, hostile, write
from tritonaudit.config import Config

pytest.importorskip("torch")
pytest.importorskip("triton")

CRASHES = {
    "segfaults": "its process killed by signal 11 (SIGSEGV)",
    "interrupts": "calling it raised KeyboardInterrupt",
    "exits": "calling it raised SystemExit: no more",
    "ends_generators": "calling it raised GeneratorExit",
    "traces": "calling it raised ZeroDivisionError",
}
LEAVES = "leaves_at_once"
"""It tells nobody where it does."""
NOT_REPORTED = {
    "kills_itself": "killed by signal 9 (SIGKILL)",
    "closes_everything": "killed by signal 13 (SIGPIPE)",
}
HARMLESS = ("leaves_a_daemon", "writes_megabytes", "goes_elsewhere")
FEW_CASES = 4


def audited(folder: Path, *deeds: str, seconds: float = 200, most_cases: int | None = FEW_CASES) -> dict[str, Any]:
    """The runs of the honest subjects, and of those that do these deeds, by the names of their files."""
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    write(folder, {**honest(), **{deed: hostile(deed) for deed in deeds}})
    request = RunRequest(seconds, 2, device=Where.CPU, most_cases=most_cases)
    found = run_paths([folder], Config(folder), request)
    assert not found.audit.problems
    return {run.path.stem.removeprefix("audit_"): run for run in found.runs}


def reported(run: Any) -> Any:
    return [(one.check, one.status, one.case, one.reason) for one in run.outcomes], run.left_out, run.cases


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The honest subjects, with nothing beside them."""
    return audited(tmp_path_factory.mktemp("alone") / "project")


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return audited(tmp_path_factory.mktemp("together") / "project", *CRASHES, LEAVES, *NOT_REPORTED, *HARMLESS)


@pytest.mark.parametrize("name", ["right", "wrong"])
def test_the_verdicts_on_others_are_what_they_were(name: str, alone: dict[str, Any], together: dict[str, Any]) -> None:
    assert reported(together[name]) == reported(alone[name])
    assert any(one.reason and one.status.value == "fail" for one in together["wrong"].outcomes)


@pytest.mark.parametrize("deed", CRASHES)
def test_a_crash_is_reported_with_its_line(deed: str, together: dict[str, Any]) -> None:
    (kernel,) = [kernel for kernel in together[deed].kernels if "audit_" in kernel.path]
    (seen,) = kernel.seen
    assert seen.symptom.value == "crash"
    assert seen.text.startswith(CRASHES[deed])
    line = Path(kernel.path).read_text().splitlines()[seen.span.line - 1]
    assert line.startswith("    "), "it is the line of the deed, or of the call that leads there"


def test_a_process_that_is_left_is_reported_at_the_last_kernel(together: dict[str, Any]) -> None:
    (kernel,) = together[LEAVES].kernels
    assert kernel.name == "double_kernel"
    assert [seen.text for seen in kernel.seen] == ["its process exited with code 0"]


@pytest.mark.parametrize("deed", NOT_REPORTED)
def test_what_comes_from_elsewhere_leaves_the_case_unknown(deed: str, together: dict[str, Any]) -> None:
    reasons = [reason for trial in together[deed].trials for _, reason in trial.unchecked]
    assert any(NOT_REPORTED[deed] in reason for reason in reasons)


@pytest.mark.parametrize("deed", HARMLESS)
def test_what_does_no_harm_is_tried_to_its_end(deed: str, alone: dict[str, Any], together: dict[str, Any]) -> None:
    assert together[deed].cases == alone["right"].cases
    assert not together[deed].kernels


def test_a_subject_that_sleeps_takes_little_more_than_its_time(tmp_path: Path) -> None:
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    write(tmp_path, {"sleeps": hostile("sleeps").replace("if x.numel() == 7", "if True")})
    began = time.monotonic()
    found = run_paths([tmp_path], Config(tmp_path), RunRequest(2, device=Where.CPU))
    assert time.monotonic() - began < 60
    (run,) = found.runs
    reported = [one for trial in run.trials for one in trial.sightings]
    assert {one.symptom.value for one in reported} <= {"hang"}
    reasons = {reason for trial in run.trials for _, reason in trial.unchecked}
    assert "it does not end within 5 s" in reasons | {one.text.partition(",")[0] for one in reported}
