"""User code on the CPU writes to a folder of its own, and signals nobody: what it may do is what its worker may."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.execute import tasks
from tritonaudit.execute import confine
from tritonaudit.execute.namespaces import leave_network
from tritonaudit.execute.pool import Limits, run_tasks

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or confine._version() < 1, reason="the kernel has no Landlock, which confines"
)

REFUSED = ("PermissionError", "OSError")
"""Landlock says the one, a file system that is mounted read-only the other."""


def leaves_network() -> bool:
    """Whether a child of this process can."""
    child = os.fork()
    if not child:
        os._exit(int(not leave_network()))
    return os.waitpid(child, 0)[1] == 0


def done(*deed: Any) -> str:
    """What the operating system says of what a confined worker does."""
    limits = Limits(seconds=60, memory=1 << 30)
    ((_, outcome),) = run_tasks(tasks.call, [("attempted", *deed)], workers=1, limits=limits, prepare=tasks.be_confined)
    assert isinstance(outcome, str)
    return outcome


@pytest.mark.parametrize(
    "deed",
    ["write", "truncate", "remove", "rename", "write through a link", "write by another process"],
)
def test_files_stay_as_they_were(deed: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("true")
    assert done(deed, str(report)) in REFUSED
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"report.json": "true"}


def test_no_file_comes_into_anothers_place(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("true")
    assert done("rename into its place", str(report)) in REFUSED
    assert report.read_text() == "true"


def test_nothing_is_added(tmp_path: Path) -> None:
    assert done("add", str(tmp_path)) in REFUSED
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(confine._version() < 6, reason="Landlock keeps signals back since Linux 6.12")
@pytest.mark.parametrize("deed", ["signal", "signal by another process"])
def test_who_started_it_gets_no_signal(deed: str) -> None:
    assert done(deed, os.getpid()) == "PermissionError"


@pytest.mark.skipif(confine._version() < 4, reason="Landlock keeps TCP back since Linux 6.7")
@pytest.mark.parametrize("deed", ["connect", "connect by another process"])
def test_nobody_is_connected_to(deed: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert done(deed, server.getsockname()[1]) == "PermissionError"


@pytest.mark.skipif(confine._version() < 4, reason="Landlock keeps TCP back since Linux 6.7")
def test_nobody_is_listened_to() -> None:
    assert done("listen") == "PermissionError"


@pytest.mark.skipif(not leaves_network(), reason="the system forbids network namespaces")
def test_nobody_hears_anything() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hearing:
        hearing.bind(("127.0.0.1", 0))
        assert done("send", hearing.getsockname()[1]) == "OSError"


def test_the_memory_of_others_stays_as_it_was() -> None:
    assert done("write to memory", os.getpid()) in REFUSED


@pytest.mark.parametrize("deed", ["write at home", "make a temporary file", "write to nowhere"])
def test_what_everybody_needs_is_there(deed: str) -> None:
    assert done(deed) == ""


def test_everything_may_be_read() -> None:
    assert done("read", __file__) == ""


def test_what_it_wrote_goes_with_it() -> None:
    limits = Limits(seconds=60, memory=1 << 30)
    ((_, path),) = run_tasks(tasks.call, [("write_at_home",)], workers=1, limits=limits, prepare=tasks.be_confined)
    assert isinstance(path, str)
    assert not Path(path).parent.exists()
