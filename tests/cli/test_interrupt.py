"""Ctrl-C ends `check`, however often it is pressed: what is done is kept, and no process stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.checkout import ROOT, environment
from tritonaudit.cli import _Interrupt

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="there is no /proc to see processes in")

SOON = 3.0  # seconds; one where nothing else keeps the machine busy


def test_a_second_press_is_heard_only_where_the_first_did_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    press = _Interrupt()
    with pytest.raises(KeyboardInterrupt):
        press(signal.SIGINT, None)
    press(signal.SIGINT, None)
    now[0] += 0.5
    press(signal.SIGINT, None)
    now[0] += 1
    with pytest.raises(KeyboardInterrupt):
        press(signal.SIGINT, None)


def test_what_is_to_be_ignored_stays_ignored() -> None:
    script = (
        "import os, signal, tritonaudit.cli as cli\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "cli.run = lambda _: os.kill(os.getpid(), signal.SIGINT) or 0\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """More files than are read in the time of a test."""
    folder = tmp_path / "src"
    folder.mkdir()
    text = (ROOT / "examples" / "faulty" / "softmax.py").read_text()
    for number in range(400):
        (folder / f"kernel_{number}.py").write_text(f"{text}\n# {number}\n")
    return folder


def group(leader: int) -> list[int]:
    """The processes of a group that are not dead."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                state, _, own = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(own) == leader and state != "Z":
                found.append(int(entry))
    return found


def kept(cache: Path) -> int:
    return sum(1 for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize(("jobs", "times"), [("1", 1), ("2", 3)])
def test_it_ends_soon_and_what_is_done_is_kept(tmp_path: Path, kernels: Path, jobs: str, times: int) -> None:
    cache = tmp_path / "cache"
    command = [sys.executable, "-m", "tritonaudit", str(kernels), "--jobs", jobs, "--exit-zero"]
    started = subprocess.Popen(
        command, cwd=ROOT, env={**environment(), "TRITONAUDIT_CACHE": str(cache)}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    waited = time.monotonic() + 60
    while kept(cache) < 3 and time.monotonic() < waited:
        time.sleep(0.05)
    before = time.monotonic()
    for _ in range(times):
        os.killpg(started.pid, signal.SIGINT)  # as a terminal does
        time.sleep(0.05)
    out, err = started.communicate(timeout=30)
    took = time.monotonic() - before
    assert (started.returncode, out, err.strip()) == (130, "", "")
    assert took < SOON
    assert group(started.pid) == []
    assert 3 <= kept(cache) < 400
