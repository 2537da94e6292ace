"""What is imported, and so how long a start takes and what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import ROOT, python

LOADED = """
import sys
from tritonaudit.cli import run
sys.path.append(sys.argv[1])
run(sys.argv[2:])
print("loaded:", *sys.modules)
"""


def loaded(stand_ins: Path, *arguments: str | Path) -> set[str]:
    """The modules in memory after a command line, where torch and triton could be imported."""
    for name in ("torch", "triton"):
        (stand_ins / name).mkdir()
        (stand_ins / name / "__init__.py").touch()
    out = python("-c", LOADED, stand_ins, *arguments, cwd=ROOT).stdout
    return set(out.rpartition("loaded: ")[2].split())


def test_the_version_needs_nothing_heavy(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "--version")
    assert "tritonaudit.cli.app" in modules
    heavy = {"libcst", "pygls", "rich", "sarif_om", "torch", "triton", "importlib.metadata", "tritonaudit.rules"}
    assert not modules & heavy


@pytest.mark.parametrize("output_format", ["full", "sarif", "markdown", "html"])
def test_check_needs_neither_torch_nor_triton(tmp_path: Path, output_format: str) -> None:
    modules = loaded(tmp_path, "check", "--jobs", "1", "--output-format", output_format, ROOT / "examples" / "faulty")
    assert "tritonaudit.rules" in modules
    assert not modules & {"torch", "triton"}
