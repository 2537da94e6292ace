"""Several processes: one that dies costs one file, and their number changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, environment, install_rule

# A rule of a third party, installed for one command: what it does to the process, no kernel can be trusted to do.
DEADLY_RULE = """
import os
from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.rule import Hit, Rule


class Deadly(Rule):
    code, name = "TAB199", "deadly"
    summary = "Ends the process that looks at a kernel of a certain name."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if kernel.function.name == "deadly":
            os._exit(9)
        return iter(())
"""
DEADLY_KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def deadly(x):
    tl.store(x, 1)
"""
HELPER = """\
import triton
import triton.language as tl


@triton.jit
def shared(x, n):
    return tl.load(x + tl.arange(0, 64))
"""
KERNEL = """

@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, shared(x, n))
"""


@pytest.fixture
def deadly_rule(tmp_path: Path) -> Path:
    """A folder with an installed package that has the rule."""
    return install_rule(tmp_path / "installed", "deadly", DEADLY_RULE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with files that have findings, files that have none, and a helper in another file."""
    root = tmp_path / "project"
    (root / "package").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    for path in sorted((ROOT / "examples").rglob("*.py")):
        (root / f"{path.parent.name}_{path.name}").write_bytes(path.read_bytes())
    (root / "package" / "helper.py").write_text(HELPER)
    importing = f"{HELPER.partition(chr(10) * 3)[0]}\nfrom .helper import shared\n{KERNEL}"
    (root / "package" / "importing.py").write_text(importing)
    (root / "package" / "caller.py").write_text(HELPER + KERNEL)
    return root


def check(cwd: Path, *arguments: str | Path, installed: Path | None = None) -> tuple[int, str, str]:
    path = os.pathsep.join(str(folder) for folder in (ROOT, installed) if folder)
    done = subprocess.run(
        [sys.executable, "-m", "tritonaudit", "check", "--output-format", "json", *map(str, arguments)],
        cwd=cwd,
        env={**environment(), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def findings(report: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in json.loads(report)["findings"]:
        found.setdefault(finding["path"], []).append(finding)
    return found


def test_a_worker_that_dies_costs_one_file(project: Path, deadly_rule: Path) -> None:
    _, before, _ = check(project, ".", "--jobs", "2")
    (project / "deadly.py").write_text(DEADLY_KERNEL)
    code, after, err = check(project, ".", "--jobs", "2", installed=deadly_rule)
    assert (code, err) == (2, "")
    assert [error["path"] for error in json.loads(after)["errors"]] == ["deadly.py"]
    assert findings(after) == findings(before)
    assert findings(before)


def test_several_that_die_cost_themselves(project: Path, deadly_rule: Path) -> None:
    _, before, _ = check(project, ".", "--jobs", "2")
    for number in range(3):
        (project / f"deadly_{number}.py").write_text(DEADLY_KERNEL)
    code, after, err = check(project, ".", "--jobs", "2", installed=deadly_rule)
    assert (code, err) == (2, "")
    assert [error["path"] for error in json.loads(after)["errors"]] == [f"deadly_{n}.py" for n in range(3)]
    assert findings(after) == findings(before)


@pytest.mark.parametrize("jobs", ["2", "3", "8"])
def test_the_number_of_jobs_changes_nothing(project: Path, jobs: str) -> None:
    (project / "broken.py").write_text("import triton\n@triton.jit\ndef kernel(:\n")
    assert check(project, ".", "--jobs", jobs) == check(project, ".", "--jobs", "1")


def test_findings_do_not_depend_on_what_else_is_named(project: Path) -> None:
    together = findings(check(project, ".", "--jobs", "1")[1])
    assert together
    for path in sorted(project.rglob("*.py")):
        name = path.relative_to(project).as_posix()
        assert findings(check(project, name)[1]).get(name, []) == together.get(name, []), name


def test_the_order_of_the_names_changes_nothing(project: Path) -> None:
    names = sorted(path.relative_to(project).as_posix() for path in project.rglob("*.py"))
    assert check(project, *names) == check(project, *reversed(names)) == check(project, ".")
