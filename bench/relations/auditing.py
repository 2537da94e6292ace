"""Audits one file, and reads the report."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]


def checkout_of(package: Path, scratch: Path) -> Path:
    """A copy of an installed package that is a project of its own, as the one that it comes from is."""
    folder = scratch / package.name
    shutil.copytree(package, folder, ignore=shutil.ignore_patterns("*.pyc", "__pycache__", "*.dist-info"))
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{package.name}"\n', encoding="utf-8")
    return folder


def audited(path: Path, budget: float, most: float, kept: Path) -> dict[str, Any]:
    """The report on a file, in JSON; one without anything where it takes longer than that."""
    kept.mkdir(parents=True, exist_ok=True)
    report = kept / ("-".join(path.parts[-4:]) + ".json")
    command = [sys.executable, "-m", "tritonaudit", "audit", str(path), "--only", "correctness,memory"]
    command += ["--device", "cpu", "--jobs", "1", "--budget", str(budget), "--seed", "1"]
    command += ["--output-format", "json", "--output-file", str(report)]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    report.unlink(missing_ok=True)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            process.wait(most)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)  # it reports what was done by then
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else {"findings": []}
    return found
