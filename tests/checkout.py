"""Copies of this checkout, for tests that build, install, clone or write into one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parent.parent

_LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", ".*_cache", "__pycache__", "*.egg-info", "build", "dist", "node_modules", "*.vsix")
)


def copy_checkout(to: Path) -> Path:
    """The working tree as it is, without what building and testing leave in it."""
    shutil.copytree(ROOT, to, ignore=_LEFT_OUT)
    return to


def install_rule(folder: Path, name: str, source: str) -> Path:
    """An installed package of a third party, in `folder`, whose module `NAME_rule` holds the rule's source."""
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / f"{name}_rule.py").write_text(source)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[tritonaudit.rules]\n{name} = {name}_rule\n")
    return folder


def environment() -> dict[str, str]:
    """This process's environment without what would lead a child to this checkout or its repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_", "VIRTUAL_ENV"))}


def run(
    *command: str | Path, cwd: Path, code: int = 0, variables: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    """Run a command and return what it wrote; the test fails when it leaves with another code."""
    arguments = [str(part) for part in command]
    done = subprocess.run(
        arguments, cwd=cwd, env={**environment(), **variables}, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == code, f"{arguments} left with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def python(*arguments: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run this interpreter: in a copy of the checkout, `-m tritonaudit` is the copy's."""
    return run(sys.executable, *arguments, cwd=cwd, code=code)
