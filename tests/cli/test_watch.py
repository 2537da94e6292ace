"""`check --watch`: what changed is shown after each change, and Ctrl-C ends it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, environment

FAULTY = (ROOT / "examples" / "faulty" / "softmax.py").read_text()
SOON = 3.0  # seconds; one where nothing else keeps the machine busy
_PATIENCE = 30.0

Command = Callable[..., Any]


class Watching:
    """A `check --watch` that runs in a project."""

    def __init__(self, project: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "tritonaudit", "--watch", "--output-format", "concise", *arguments]
        variables = {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            command, cwd=project, env={**environment(), **variables}, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.out = self.err = ""
        self._threads = [threading.Thread(target=self._read, args=(name,)) for name in ("out", "err")]
        for thread in self._threads:
            thread.start()

    def _read(self, name: str) -> None:
        stream = self._process.stdout if name == "out" else self._process.stderr
        assert stream is not None
        while piece := os.read(stream.fileno(), 65536):
            setattr(self, name, getattr(self, name) + piece.decode())

    def shows(self, pattern: str) -> str:
        """What was written up to the pattern, once it is there."""
        end = time.monotonic() + _PATIENCE
        while (found := re.search(pattern, self.out)) is None:
            assert time.monotonic() < end, f"{pattern!r} is not in {self.out!r}, {self.err!r}"
            assert self._process.poll() is None, self.err
            time.sleep(0.02)
        shown, self.out = self.out[: found.end()], self.out[found.end() :]
        return shown

    def starts(self) -> str:
        end = time.monotonic() + _PATIENCE
        while "watching" not in self.err:
            assert time.monotonic() < end, self.err
            assert self._process.poll() is None, self.err
            time.sleep(0.02)
        shown, self.out = self.out, ""
        return shown

    def press(self, times: int = 1) -> tuple[int, float]:
        """Ctrl-C: the exit code, and how long it took."""
        before = time.monotonic()
        for _ in range(times):
            os.killpg(self._process.pid, signal.SIGINT)
            time.sleep(0.02)
        code = self._process.wait(_PATIENCE)
        return code, time.monotonic() - before

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    (folder / "src" / "softmax.py").write_text(FAULTY)
    return folder


@pytest.fixture
def watching(project: Path) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(*arguments: str) -> Watching:
        started.append(Watching(project, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.end()


Start = Callable[..., Watching]


def test_each_change_shows_what_it_changed_and_the_totals(project: Path, watching: Start) -> None:
    watch = watching("src", "--fail-on", "warning")
    first = watch.starts()
    assert first.count("TAC107") == first.count("TAN102") == 1
    path = project / "src" / "softmax.py"

    path.write_text(FAULTY.replace("(rows[:, None] < n_rows) and (cols", "(rows[:, None] < n_rows) & (cols"))
    shown = watch.shows(r"Found 1 .*\n")
    assert re.search(
        r"^\d\d:\d\d:\d\d src/softmax.py changed\nsrc/softmax.py:12:12: no longer found: TAC107", shown, re.M
    )
    assert "TAN102" not in shown

    renamed = project / "src" / ".softmax.py.swp"
    renamed.write_text(f"\n\n{FAULTY}")
    path.unlink()
    renamed.rename(path)
    shown = watch.shows(r"Found 2 .*\n")
    assert "src/softmax.py:14:12: TAC107" in shown
    assert "no longer" not in shown

    new = project / "src" / "deep" / "er"
    new.mkdir(parents=True)
    (new / "more.py").write_text(FAULTY)
    assert "src/deep/er/more.py:12:12: TAC107" in watch.shows(r"Found 4 .*\n")
    shutil.rmtree(project / "src" / "deep")
    assert watch.shows(r"Found 2 .*\n").count("src/deep/er/more.py:") == 2

    (project / "tritonaudit.toml").write_text("ignore = ['TAN']\n")
    assert "tritonaudit.toml changed\nsrc/softmax.py:17:17: no longer found: TAN102" in watch.shows(r"Found 1 .*\n")
    (project / "tritonaudit.toml").write_text("ignroe = ['TAN']\n")
    assert "tritonaudit.toml:1: " in watch.shows("ignroe.*\n")
    (project / "tritonaudit.toml").unlink()
    assert "src/softmax.py:17:17: TAN102" in watch.shows(r"Found 2 .*\n")

    code, took = watch.press(times=3)
    assert code == 1
    assert took < SOON
    assert watch.err.count("\n") == 1
    assert "\x1b" not in first


def test_many_changes_at_once_are_one(project: Path, watching: Start) -> None:
    watch = watching()
    watch.starts()
    path = project / "src" / "softmax.py"
    for number in range(30):
        path.write_text(f"{FAULTY}\n# {number}\n")
        time.sleep(0.02)
    path.write_text("import torch\n")
    watch.shows("No kernels found.*\n")
    time.sleep(0.5)
    assert watch.out == ""
    assert watch.press()[0] == 0


def test_what_vanishes_makes_it_an_error_until_it_is_back(project: Path, watching: Start) -> None:
    watch = watching("src")
    watch.starts()
    (project / "src").rename(project / "away")
    assert "src: problem: no such file" in watch.shows(r"Nothing was checked.*\n")
    (project / "away").rename(project / "src")
    watch.shows(r"Found 2 .*\n")
    (project / "src" / "softmax.py").write_text("import triton\n\n\n@triton.jit\ndef (:\n")
    watch.shows("TAX001(.|\n)*Found 1 .*\n")
    assert watch.press()[0] == 2


def test_a_file_that_is_extended_counts_before_it_was_right_once(project: Path, watching: Start) -> None:
    watch = watching("src")
    watch.starts()
    base = project / "elsewhere.toml"
    base.write_text("ignroe = ['TAN']\n")
    (project / "tritonaudit.toml").write_text("extend = 'elsewhere.toml'\n")
    watch.shows("ignroe.*\n")
    base.write_text("ignore = ['TAN']\n")
    assert "no longer found: TAN102" in watch.shows(r"Found 1 .*\n")


@pytest.mark.parametrize(
    "arguments",
    [("-",), ("--fix",), ("--diff",), ("--statistics",), ("--output-format", "json"), ("--output-file", "x.txt")],
)
def test_it_only_shows(tritonaudit: Command, arguments: tuple[str, ...]) -> None:
    ran = tritonaudit("--watch", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tritonaudit: --watch ")
