"""`pytest --tritonaudit` as a process: a right subject, a wrong one, and one that ends its process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench.hostile.subjects import KERNELS
from tests.call_log import TELL, call_log
from tests.checkout import ROOT

SUITES = ("correctness", "stability", "memory", "integrity", "performance")
DOUBLE = """\
from calls import tell
from kernels import double_kernel, launched, wrong_kernel

from tritonaudit import Subject, Tensor

FEW = {"reference": lambda x: 2 * x, "inputs": [Tensor("n")], "sizes": {"n": [7]}, "dtypes": ["float32"]}


def calling(name, kernel):
    def double(x):
        tell(name)
        return launched(kernel, x)

    return double


right = Subject(calling("right", double_kernel), **FEW)
wrong = Subject(calling("wrong", wrong_kernel), **FEW)
"""
CRASH = """\
import os

from tritonaudit import Subject, Tensor

crashing = Subject(lambda x: os._exit(3), reference=lambda x: x, inputs=[Tensor("n")], sizes={"n": [7]})
"""
ORDINARY = "def test_it():\n    pass\n"
HEAVY = """\
import sys

def pytest_unconfigure():
    heavy = {"torch", "triton", "libcst", "click", "tritonaudit.testing", "tritonaudit.suites"} & set(sys.modules)
    print("heavy:", sorted(heavy))
"""


@dataclass(frozen=True)
class Session:
    """A pytest that has ended."""

    code: int
    out: str
    calls: list[str]

    @property
    def outcomes(self) -> dict[str, str]:
        """What `-rA` says of each test; of skipped ones, which it gathers, `-v` does."""
        reported = re.findall(r"^(?:\[gw\d\] \[ *\d+%\] )?(PASSED|FAILED) (\S+)", self.out, re.M)
        skipped = re.findall(r"^(\S+) (SKIPPED)", self.out, re.M)
        return {test: word for word, test in reported} | dict(skipped)


def session(project: Path, *options: str, variables: Mapping[str, str] | None = None) -> Session:
    calls = project / "calls"
    calls.unlink(missing_ok=True)
    ours = () if entry_points(group="pytest11", name="tritonaudit") else ("-p", "tritonaudit.pytest_plugin")
    command = [sys.executable, "-m", "pytest", *ours, "-p", "no:cacheprovider", *options]
    paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": paths, "CALLS": str(project / "address")}
    with call_log(calls, project / "address"):
        done = subprocess.run(
            command,
            cwd=project,
            env={**environment, **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    return Session(done.returncode, done.stdout, calls.read_text().split() if calls.exists() else [])


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    for name, text in {"kernels": KERNELS, "calls": TELL, **files}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    return written(tmp_path / "project", audit_double=DOUBLE, test_it=ORDINARY)


@pytest.fixture(scope="module")
def whole_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    return written(tmp_path_factory.mktemp("whole"), audit_double=DOUBLE, test_it=ORDINARY)


OPTIONS = ("--tritonaudit", "--tritonaudit-device", "cpu", "--tritonaudit-budget", "200")


@pytest.fixture(scope="module")
def whole(whole_project: Path) -> Session:
    return session(whole_project, *OPTIONS, "-v", "-rA", "--junit-xml", "junit.xml")


def test_each_subject_has_a_test_for_each_suite(whole: Session) -> None:
    right = {f"audit_double.py::right::{suite}": "PASSED" for suite in SUITES[:-1]}
    wrong = {"correctness": "FAILED", "stability": "SKIPPED", "memory": "FAILED", "integrity": "PASSED"}
    assert whole.outcomes == {
        **right,
        "audit_double.py::right::performance": "SKIPPED",
        **{f"audit_double.py::wrong::{suite}": word for suite, word in wrong.items()},
        "audit_double.py::wrong::performance": "SKIPPED",
        "test_it.py::test_it": "PASSED",
    }
    assert whole.code == 1


def test_a_failure_shows_place_message_witness_and_remedy(whole: Session) -> None:
    [shown] = re.findall(r"^_+ wrong::memory _+\n(.*?)^[_=]{3}", whole.out, re.M | re.S)
    finding, witness, command, remedy = shown.strip().splitlines()
    said = r"kernels\.py:16:\d+: TAM401 out-of-bounds \[error\] in wrong_kernel: `wrong_kernel` goes out of bounds in"
    assert re.match(said, finding)
    assert witness == "    witness: n=7 float32"
    assert command == (
        "    $ python -c \"import tritonaudit as t; t.reproduce('audit_double.py', 'wrong', t.Case({'n': 7}))\""
    )
    assert remedy.startswith("    use instead: mask the access")
    assert "Traceback" not in whole.out


def test_a_skipped_test_says_why(whole: Session) -> None:
    reasons = dict(re.findall(r"^(\S+) SKIPPED \((.*?)[).]", whole.out, re.M))
    assert reasons["audit_double.py::right::performance"] == "there is no GPU"
    assert reasons["audit_double.py::wrong::stability"].startswith("not everything that")


BARE = """\
from kernels import double_kernel, launched

from tritonaudit import Subject, Tensor

bare = Subject(lambda x: launched(double_kernel, x), inputs=[Tensor("n")], sizes={"n": [7]}, dtypes=["float32"])
"""


@pytest.mark.parametrize(("options", "word"), [((), "SKIPPED"), (("--tritonaudit-strict",), "FAILED")])
def test_what_was_not_all_tried_is_skipped_and_fails_where_that_is_asked_for(
    tmp_path: Path, options: tuple[str, ...], word: str
) -> None:
    pytest.importorskip("triton")
    project = written(tmp_path / "project", audit_bare=BARE)
    found = session(project, *OPTIONS[:-1], "1", "-v", "-rA", *options)
    assert found.outcomes["audit_bare.py::bare::correctness"] == word
    assert found.outcomes["audit_bare.py::bare::memory"] == "PASSED"
    assert "not everything that has to be tried was tried" in found.out
    assert found.code == int(word == "FAILED")


def test_junit_has_properties(whole: Session, whole_project: Path) -> None:
    assert whole.out
    cases = {
        (case.get("classname"), case.get("name")): {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in ElementTree.parse(whole_project / "junit.xml").iter("testcase")
    }
    said = cases["audit_double.wrong", "memory"]
    assert said["tritonaudit.findings"] == "TAM401"
    assert said["tritonaudit.device"] == "CPU engine"
    assert int(said["tritonaudit.cases"] or 0) > 5
    assert float(said["tritonaudit.worst_error"] or 0) > 1
    right = cases["audit_double.right", "memory"]
    assert right["tritonaudit.findings"] == ""
    assert float(right["tritonaudit.worst_error"] or 2) <= 1


def test_a_subject_is_run_once_for_all_its_tests_and_only_if_it_has_one(whole: Session, whole_project: Path) -> None:
    alone = session(whole_project, *OPTIONS, "-v", "-rA", "-k", "right and memory")
    assert alone.outcomes == {"audit_double.py::right::memory": "PASSED"}
    assert set(alone.calls) == {"right"}
    assert len(alone.calls) == whole.calls.count("right")


def test_tests_that_need_a_gpu_can_be_left_out(project: Path) -> None:
    listed = session(project, *OPTIONS, "--collect-only", "-q", "-m", "not gpu")
    assert [line for line in listed.out.splitlines() if "::" in line] == [
        *(f"audit_double.py::{subject}::{suite}" for subject in ("right", "wrong") for suite in SUITES[:-1]),
        "test_it.py::test_it",
    ]
    assert listed.calls == []


def test_a_subject_that_ends_its_process_fails_and_passes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    project = written(tmp_path / "project", audit_crash=CRASH)
    options = (*OPTIONS[:-1], "1", "-v", "-rA")
    crashed = session(project, *options)
    assert crashed.code == 1
    assert {test.rpartition("::")[2]: word for test, word in crashed.outcomes.items()} == {
        "correctness": "FAILED",
        **dict.fromkeys(SUITES[1:], "SKIPPED"),
    }
    assert re.search(
        r"^audit_crash\.py:\d+:\d+: TAC407 crash-or-hang .* its process exited with code 3$", crashed.out, re.M
    )


def test_a_file_that_cannot_be_loaded_is_an_error_at_its_line(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    project = written(tmp_path / "project", audit_broken="import tritonaudit\n\nnope\n")
    broken = session(project, *OPTIONS)
    assert broken.code == 2
    assert re.search(r"^audit_broken\.py:3: .*nope", broken.out, re.M)
    assert "Traceback" not in broken.out


def test_without_the_option_nothing_is_collected_and_nothing_heavy_imported(tmp_path: Path) -> None:
    project = written(tmp_path / "project", audit_double=DOUBLE, test_it=ORDINARY, conftest=HEAVY)
    inert = session(project, "-v")
    assert inert.code == 0
    assert "1 passed" in inert.out
    assert "heavy: []" in inert.out


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "x"])
def test_a_budget_is_a_number_of_seconds(tmp_path: Path, seconds: str) -> None:
    refused = session(written(tmp_path / "project"), "--tritonaudit", f"--tritonaudit-budget={seconds}")
    assert refused.code == 4
    assert "--tritonaudit-budget: invalid" in refused.out


@pytest.mark.parametrize("options", [("-n", "2"), ("-n", "2", "--dist", "loadgroup")], ids=" ".join)
def test_xdist_keeps_the_tests_of_a_subject_together(project: Path, options: tuple[str, ...]) -> None:
    if find_spec("xdist") is None:
        pytest.skip("pytest-xdist is not installed")
    spread = session(project, *options, *OPTIONS[:-1], "1", "-v", "--junit-xml", "junit.xml")
    places: dict[str, set[str]] = {}
    for worker, name, suite in re.findall(r"^\[(gw\d)\] .* audit_double\.py::(\w+)::(\w+)", spread.out, re.M):
        places.setdefault("performance" if suite == "performance" else name, set()).add(worker)
    assert {name: len(workers) for name, workers in places.items()} == {"right": 1, "wrong": 1, "performance": 1}
    cases = list(ElementTree.parse(project / "junit.xml").iter("testcase"))
    assert len(cases) == 11
    assert sum(case.find("properties") is not None for case in cases) == 8
