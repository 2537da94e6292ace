"""`tritonaudit audit` as a process: killed and resumed, interrupted, and what it writes on the way."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.hostile.subjects import KERNELS
from tests.call_log import TELL, call_log
from tests.checkout import ROOT

pytest.importorskip("torch")
pytest.importorskip("triton")

SPEC = """\
from calls import tell
from kernels import launched, {kernel}

from tritonaudit import Subject, Tensor


def double(x):
    tell("called")
    return launched({kernel}, x)


{name} = Subject(
    double, reference=lambda x: 2 * x, inputs=[Tensor("n")], sizes={{"n": [64, 7]}}, dtypes=["float32"], name="{name}"
)
"""
OPTIONS = ("--only", "correctness,memory", "--device", "cpu", "--budget", "200", "--jobs", "1", "--seed", "5")
ONE_TRIAL = 30
"""Calls that a trial makes at most."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A right subject and a wrong one, whose calls are counted."""
    folder = tmp_path_factory.mktemp("audited") / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "calls.py").write_text(TELL)
    for name, kernel in (("right", "double_kernel"), ("wrong", "wrong_kernel")):
        (folder / f"audit_{name}.py").write_text(SPEC.format(name=name, kernel=kernel))
    with call_log(folder.parent / "calls", folder.parent / "address"):
        yield folder


def environment(project: Path, cache: str) -> dict[str, str]:
    paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    variables = {
        "PYTHONPATH": paths,
        "CALLS": str(project.parent / "address"),
        "TRITONAUDIT_CACHE": str(project.parent / cache),
    }
    return {**os.environ, **variables}


def started(project: Path, *options: str, cache: str = "cache", **streams: Any) -> subprocess.Popen[str]:
    """The audit of the project, as JSON, under way."""
    return subprocess.Popen(
        [sys.executable, "-m", "tritonaudit", "audit", *OPTIONS, "--output-format", "json", *options, "."],
        cwd=project,
        env=environment(project, cache),
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
    )


def audited(project: Path, *options: str, cache: str = "cache") -> tuple[dict[str, Any], str, int]:
    """The report, what was written to stderr, and how many calls were made."""
    before = calls(project)
    out, err = started(project, *options, cache=cache).communicate(timeout=170)
    return json.loads(out), err, calls(project) - before


def calls(project: Path) -> int:
    log = project.parent / "calls"
    return len(log.read_text().splitlines()) if log.exists() else 0


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)


def reported(report: dict[str, Any]) -> list[Any]:
    """All that the report says of findings and checks."""
    return [report["findings"], [(one["subject"], one["cases"], one["checks"]) for one in report["ran"]["subjects"]]]


def workers_of(parent: int) -> list[int]:
    """The processes that this one started, and theirs (Linux)."""
    from tritonaudit.execute.processes import descendants

    return descendants(parent)


def is_alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.fixture(scope="module")
def whole(project: Path) -> tuple[dict[str, Any], str, int]:
    """The audit that nothing disturbs."""
    return audited(project, cache="other cache")


def test_a_killed_audit_is_resumed(project: Path, whole: tuple[dict[str, Any], str, int]) -> None:
    report, _, number = whole
    before = calls(project)
    killed = started(project)
    wait_until(lambda: calls(project) - before > number // 2)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    made = calls(project) - before
    assert made < number, "it was killed too late"
    resumed, err, rest = audited(project, "--resume")
    assert reported(resumed) == reported(report)
    assert number <= made + rest <= number + ONE_TRIAL
    assert "wrong" in err

    again, _, more = audited(project, "--resume")
    assert (reported(again), more) == (reported(report), 0)

    helper = project / "kernels.py"
    helper.write_text(KERNELS.replace("+ 1, mask", "* 2, mask"))
    fixed, _, made = audited(project, "--resume")
    helper.write_text(KERNELS)
    assert made > number // 2
    assert reported(fixed) != reported(report)


def test_an_audit_that_is_not_resumed_begins_anew(project: Path, whole: tuple[dict[str, Any], str, int]) -> None:
    report, _, number = whole
    again, _, made = audited(project, cache="other cache")
    assert (reported(again), made) == (reported(report), number)


def test_ctrl_c_leaves_a_report_of_what_was_done(project: Path) -> None:
    earlier = calls(project)
    process = started(project, cache="third cache")
    wait_until(lambda: calls(project) > earlier)
    workers = workers_of(process.pid)
    assert workers
    begun = calls(project)
    wait_until(lambda: calls(project) > begun + ONE_TRIAL)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    report = json.loads(out)
    right, wrong = report["ran"]["subjects"]
    assert right["cases"] > 0
    for subject in (right, wrong):
        (rest,) = [check for check in subject["checks"] if check["check"] == "the rest"]
        assert (rest["status"], rest["reason"]) == ("not run", "interrupted")
    wait_until(lambda: not any(map(is_alive, workers)))


def test_there_is_a_line_on_stderr_for_each_subject(whole: tuple[dict[str, Any], str, int]) -> None:
    _, err, _ = whole
    right, wrong = sorted(err.splitlines())
    assert right.startswith("audit_right.py: right: ")
    assert right.endswith(" s: pass")
    assert wrong.startswith("audit_wrong.py: wrong: ")
    assert wrong.endswith(" s: fail")


def test_a_terminal_shows_progress_and_keeps_nothing_of_it(project: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with (tmp_path / "report").open("w") as report:
        process = started(project, stderr=theirs, stdout=report)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError:  # nobody has the terminal any more
            break
    process.wait(timeout=120)
    os.close(ours)
    assert json.loads((tmp_path / "report").read_text())["ran"]["subjects"]
    assert b"trying subjects" in shown
    assert b"n=64 float32" in shown
    assert shown.rstrip().endswith(b"\x1b[2K"), "the display is erased in the end"


@pytest.mark.parametrize("part", ["correctness", "memory", "stability", "integrity"])
def test_each_part_of_what_is_run_has_a_name(part: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    command = [sys.executable, "-m", "tritonaudit", "audit", "--only", part, "."]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path, "cache"), check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"Nothing was checked.\n")


def test_performance_that_nothing_can_measure_is_incomplete(project: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tritonaudit",
        "audit",
        "--only",
        "performance",
        "--device",
        "cpu",
        "audit_right.py",
    ]
    done = subprocess.run(
        command, cwd=project, env=environment(project, "cache"), check=False, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "every kernel: INCOMPLETE, performance NOT RUN: there is no GPU\n" in done.stdout
    assert done.stdout.endswith("No kernel was analysed in 1 file. 2 not analysed.\n")


def test_only_what_was_asked_for_is_shown(project: Path) -> None:
    command = [sys.executable, "-m", "tritonaudit", "audit", "--only", "memory", *OPTIONS[2:], "audit_wrong.py"]
    done = subprocess.run(
        [*command, "--output-format", "json"],
        cwd=project,
        env=environment(project, "cache"),
        check=False,
        capture_output=True,
        text=True,
    )
    report = json.loads(done.stdout)
    (subject,) = report["ran"]["subjects"]
    checks = {one["check"] for one in subject["checks"]}
    assert {"all that has to be tried", "access out of bounds", "integer overflow in an address"} <= checks
    assert not {"wrong result", "stale result"} & checks
    assert not [check for check in checks if check.startswith("stability: ")]
    assert (subject["asked"], subject["failed_unasked"]) == (["memory"], ["wrong result"])
    assert "TAC401" not in {finding["code"] for finding in report["findings"]}


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "-1", "0", "soon"])
@pytest.mark.parametrize("command", [("audit", "."), ("gate", "audit_it.py", "--stage", "1"), ("select", "operation")])
def test_a_budget_is_a_number_of_seconds(seconds: str, command: tuple[str, ...], tmp_path: Path) -> None:
    options = [sys.executable, "-m", "tritonaudit", *command, "--budget", seconds]
    done = subprocess.run(
        options, cwd=tmp_path, env=environment(tmp_path, "cache"), check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tritonaudit: Invalid value for '--budget': ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--device", "gpu"), "give --device cpu"),
        (("--only", "source,performance"), "it needs one of correctness, integrity, memory, stability"),
    ],
)
def test_what_nothing_can_be_cross_checked_with_is_refused(
    options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    command = [sys.executable, "-m", "tritonaudit", "audit", "--cross-check", *options, "."]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(tmp_path, "cache"), check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "--cross-check" in done.stderr
    assert words in " ".join(done.stderr.split())
