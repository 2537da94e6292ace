"""A bar shows how far `check` is, on a terminal, once that takes long; and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT, environment

pty = pytest.importorskip("pty")

SCRIPT = """\
import sys
import tritonaudit.cli.progress as progress
progress.LATE = float(sys.argv[1])
from tritonaudit.cli import run
sys.exit(run(sys.argv[2:]))
"""


def on_terminal(late: str, *arguments: str | Path) -> tuple[bytes, str]:
    """What a terminal on stderr is sent, and the standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, late, *map(str, arguments)],
        cwd=ROOT, env={**environment(), "TERM": "xterm"}, stdout=subprocess.PIPE, stderr=theirs, text=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError:  # nobody has the terminal any more
            break
    os.close(ours)
    return shown, process.communicate(timeout=60)[0]


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    text = (ROOT / "examples" / "faulty" / "softmax.py").read_text()
    for number in range(3):
        (tmp_path / f"kernel_{number}.py").write_text(f"{text}\n# {number}\n")
    return tmp_path


def test_a_bar_counts_files_and_is_erased(kernels: Path) -> None:
    shown, report = on_terminal("0", kernels, "--no-cache", "--output-format", "concise")
    assert b"reading the source" in shown
    assert b"1/3" in shown
    assert shown.rstrip().endswith(b"\x1b[2K")
    assert report.count("TAC107") == 3


def test_what_is_soon_done_shows_none(kernels: Path) -> None:
    shown, report = on_terminal("60", kernels, "--no-cache", "--output-format", "concise")
    assert shown == b""
    assert report.count("TAC107") == 3
