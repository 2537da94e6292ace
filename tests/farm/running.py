"""`tritonaudit farm` as a process, in a project of three subjects, the first of which is wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.hostile.subjects import KERNELS
from tests.cli.test_audit_jsonl import SPEC, begun

FILES = [f"audit_{number}.py" for number in range(3)]
WRONG = FILES[0]
SEED = 3
UNSEEDED = ["--stages", "correctness", "--device", "cpu", "--cases", "0", "--budget", "60", "--jobs", "2"]


def started(project: Path, *options: str, paths: Sequence[str] = ()) -> subprocess.Popen[str]:
    return begun(project, "farm", *paths, *UNSEEDED, "--seed", str(SEED), *options)


def written_in(folder: Path) -> Path:
    """The project, made in the folder."""
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "kernels.py").write_text(KERNELS)
    for name in FILES:
        (project / name).write_text(SPEC.format(kernel="wrong_kernel" if name == WRONG else "double_kernel"))
    return project


def last_lines_in(path: Path) -> dict[str, str]:
    """The last line of each path."""
    texts = path.read_text().splitlines() if path.is_file() else []
    return {json.loads(one)["path"]: one for one in texts}


def lines_in(path: Path) -> dict[str, str]:
    """The lines by their paths, each of which has one."""
    found = last_lines_in(path)
    assert not path.is_file() or len(found) == len(path.read_text().splitlines())
    return found
