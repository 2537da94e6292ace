"""The language server in Neovim, with the client that is built into it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkout import ROOT, environment
from tritonaudit.config import project_config
from tritonaudit.engine import check_text

pytest.importorskip("pygls")

from bench.server.client import SERVER

SCRIPT = Path(__file__).with_name("diagnose.lua")
SEVERITIES = {"error": 1, "warning": 2, "info": 3}


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim_shows_what_check_finds() -> None:
    path = ROOT / "examples" / "faulty" / "softmax.py"
    variables = {**environment(), "SERVER": json.dumps(SERVER), "PYTHONPATH": str(ROOT)}
    command = ("nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", str(path), "-c", f"luafile {SCRIPT}")
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, encoding="utf-8", timeout=120, check=True
    )
    shown = {(one["line"], one["column"], one["severity"]) for one in json.loads(done.stdout)}
    expected = check_text(path.read_bytes(), path, project_config(ROOT)).findings
    assert shown == {(one.span.line, one.span.column, SEVERITIES[one.severity.value]) for one in expected}
