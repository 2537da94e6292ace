"""Turns on the GPU, between real processes: many share it or one has it, nobody starves, and the dead hold nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, environment
from tests.execute import tasks
from tritonaudit.execute import turns
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.execute.turns import Turns

SCRIPT = """
import os, sys, time
from pathlib import Path
from tritonaudit.execute.turns import Turns

folder, kind, rounds, seconds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def say(what):
    os.write(log, f"{what} {os.getpid()} {time.monotonic()}\\n".encode())

own = Turns(folder)
for _ in range(rounds):
    with getattr(own, kind)(60):
        say(f"+{kind}")
        time.sleep(seconds)
        say(f"-{kind}")
"""


@contextmanager
def taking(folder: Path, kind: str, rounds: int, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """A process that takes turns, of so many seconds each."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), kind, str(rounds), str(seconds)], env=environment(), cwd=ROOT
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def said(folder: Path) -> list[tuple[str, int, float]]:
    """What the processes said: that a turn began or ended, who, and when."""
    path = folder / "log"
    words = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return [(what, int(process), float(when)) for what, process, when in words]


def wait_for(folder: Path, what: str, seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not any(one == what for one, _, _ in said(folder)):
        assert time.monotonic() < ends, said(folder)
        time.sleep(0.01)


def test_whoever_times_is_alone_and_whoever_shares_is_not(tmp_path: Path) -> None:
    with (
        taking(tmp_path, "shared", 12, 0.03) as one,
        taking(tmp_path, "shared", 12, 0.03) as other,
        taking(tmp_path, "exclusive", 8, 0.02) as third,
        taking(tmp_path, "exclusive", 8, 0.02) as fourth,
    ):
        assert [process.wait(60) for process in (one, other, third, fourth)] == [0] * 4
    inside: list[str] = []
    shared_at_once = 0
    for what, _, _ in said(tmp_path):
        if what[0] == "+":
            inside.append(what[1:])
        else:
            inside.remove(what[1:])
        assert "exclusive" not in inside or len(inside) == 1, said(tmp_path)
        shared_at_once = max(shared_at_once, len(inside))
    assert shared_at_once == 2


def test_a_stream_of_those_who_share_does_not_keep_one_waiting(tmp_path: Path) -> None:
    """There are always some who share: without the gate it would not come to its turn before they have ended."""
    with (
        taking(tmp_path, "shared", 10_000, 0.05),
        taking(tmp_path, "shared", 10_000, 0.07),
        taking(tmp_path, "shared", 10_000, 0.06),
    ):
        wait_for(tmp_path, "-shared")
        began = time.monotonic()
        with Turns(tmp_path).exclusive(60):
            assert time.monotonic() - began < 5.0


def test_those_who_share_come_to_their_turn_once_nobody_times(tmp_path: Path) -> None:
    with taking(tmp_path, "exclusive", 20, 0.02) as one, taking(tmp_path, "exclusive", 20, 0.02) as other:
        wait_for(tmp_path, "+exclusive")
        with Turns(tmp_path).shared(60):
            pass
        assert [one.wait(60), other.wait(60)] == [0, 0]


@pytest.mark.parametrize("kind", ["shared", "exclusive"])
def test_the_turn_of_a_process_that_is_killed_is_over(tmp_path: Path, kind: str) -> None:
    with taking(tmp_path, kind, 1, 600.0) as process:
        wait_for(tmp_path, f"+{kind}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        began = time.monotonic()
        with Turns(tmp_path).exclusive(60):
            assert time.monotonic() - began < 5.0


def test_one_who_dies_while_it_waits_shuts_nobody_out(tmp_path: Path) -> None:
    own = Turns(tmp_path)
    with own.shared(60), taking(tmp_path, "exclusive", 1, 0.0) as process:
        time.sleep(1.0)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Turns(tmp_path).shared(60):
            pass
    assert said(tmp_path) == []


def test_a_shared_turn_is_given_up_for_an_exclusive_one_and_taken_again(tmp_path: Path) -> None:
    own = Turns(tmp_path)
    with own.shared(60):
        with own.exclusive(60), taking(tmp_path, "shared", 1, 0.0):
            time.sleep(0.5)
            assert said(tmp_path) == []
        with taking(tmp_path, "exclusive", 1, 0.0):
            time.sleep(0.5)
            assert not any(what == "+exclusive" for what, _, _ in said(tmp_path))
    assert own.waited < 5.0


def test_a_fork_of_one_who_has_a_turn_does_not_end_it(tmp_path: Path) -> None:
    own = Turns(tmp_path)
    with own.exclusive(60):
        child = os.fork()
        if child == 0:
            own._leave()
            os._exit(0)
        os.waitpid(child, 0)
        with taking(tmp_path, "shared", 1, 0.0):
            time.sleep(0.5)
            assert said(tmp_path) == []


def test_what_raises_ends_its_turn(tmp_path: Path) -> None:
    own = Turns(tmp_path)
    with pytest.raises(KeyError), own.shared(60), own.exclusive(60):
        raise KeyError
    with taking(tmp_path, "exclusive", 1, 0.0) as process:
        assert process.wait(20) == 0


def test_gpus_are_apart_and_the_first_that_is_seen_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for visible in ("", "0,1", "1", "GPU-8a"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        names.append(turns._device())
    assert names == ["0", "0", "1", "GPU8a"]


def test_a_folder_that_others_may_write_into_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    usual = tmp_path / f"tritonaudit-{os.getuid()}"
    assert turns.turns_folder.__wrapped__() == usual
    usual.chmod(0o777)
    assert turns.turns_folder.__wrapped__() == tmp_path / "cache" / "turns"
    (tmp_path / "cache" / "turns").rmdir()
    (tmp_path / "cache" / "turns").write_text("")
    assert turns.turns_folder.__wrapped__() is None


def test_a_turn_is_given_up_to_a_process_that_takes_its_own(tmp_path: Path) -> None:
    own = Turns(tmp_path)
    with own.shared(60):
        with own.given_up(60), taking(tmp_path, "exclusive", 1, 0.0) as process:
            assert process.wait(20) == 0
        with taking(tmp_path, "exclusive", 1, 0.0):
            time.sleep(1.0)
            assert [word for word, _, _ in said(tmp_path)] == ["+exclusive", "-exclusive"]


def test_without_a_folder_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "turns_folder", lambda: None)
    with Turns().exclusive(60), Turns().exclusive(60):
        pass


# -- what the pool makes of those who wait ------------------------------------------------------------------------


def outcome_of(task: Any, **limits: Any) -> Any:
    ((_, outcome),) = run_tasks(tasks.call, [task], workers=1, limits=Limits(**{"memory": 1 << 30, **limits}))
    return outcome


def test_waiting_for_a_turn_is_not_the_tasks_time(tmp_path: Path) -> None:
    """It waits for longer than it may take; a task that computes for as long is killed."""
    outcome_of(("take_a_turn", str(tmp_path), 0.0), seconds=60.0)  # the next worker is forked at once
    with taking(tmp_path, "exclusive", 1, 3.5):
        wait_for(tmp_path, "+exclusive")
        waited = outcome_of(("take_a_turn", str(tmp_path), 0.5), seconds=2.5)
    assert not isinstance(waited, Killed), waited
    assert 2.0 < waited < 10.0
    late = outcome_of(("take_a_turn", str(tmp_path), 8.0), seconds=2.5)
    assert isinstance(late, Killed)
    assert late.message == "took longer than 2.5 s"
