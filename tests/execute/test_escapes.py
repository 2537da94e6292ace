"""What hostile code tries to get out of a worker, and to take from the machine: each has its end, and harms nobody."""

from __future__ import annotations

import os
import socket
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.execute import escapes, tasks
from tests.execute.test_confine import REFUSED, leaves_network
from tritonaudit.execute import confine
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.limits import MOST_PROCESSES, without_secrets
from tritonaudit.execute.pool import Limits, run_tasks

VERSION = confine._version()
pytestmark = pytest.mark.skipif(sys.platform != "linux" or VERSION < 1, reason="the kernel has no Landlock")
SIGNALS = pytest.mark.skipif(VERSION < 6, reason="Landlock keeps signals back since Linux 6.12")
TCP = pytest.mark.skipif(VERSION < 4, reason="Landlock keeps TCP back since Linux 6.7")
MEBIBYTES = 64


def outcome(*deed: Any) -> Any:
    limits = Limits(seconds=60, memory=MEBIBYTES << 20)
    ((_, found),) = run_tasks(escapes.attempted, [deed], workers=1, limits=limits, prepare=tasks.be_confined)
    return found


def killed(*deed: Any) -> tuple[End, str]:
    found = outcome(*deed)
    assert isinstance(found, Killed), found
    return found.end, found.message


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    path.write_text("true")
    return path


# -- out of its folder -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deed", ["writes", "writes_through_a_link"])
def test_a_report_keeps_its_text(deed: str, report: Path) -> None:
    assert outcome(deed, str(report)) in REFUSED
    assert report.read_text() == "true"


@pytest.mark.skipif(not leaves_network(), reason="the system forbids namespaces")
def test_a_report_keeps_its_mode(report: Path) -> None:
    mode = stat.S_IMODE(report.stat().st_mode)
    assert outcome("changes_mode", str(report)) in REFUSED
    assert stat.S_IMODE(report.stat().st_mode) == mode


def test_the_users_keys_are_not_in_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_ed25519").write_text("hunter2")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert outcome("reads_keys") == "FileNotFoundError"


def test_no_variable_tells_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hunter2")
    assert outcome("reads_variables", os.getpid()) == "none"


def test_what_is_called_a_secret_is_one_by_whole_words() -> None:
    kept = {"PATH": "/bin", "TOKENIZERS_PARALLELISM": "0", "KEYBOARD": "us", "TRITON_CACHE_DIR": "x"}
    secrets = ("OPENAI_API_KEY", "GH_TOKEN", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "db_password")
    assert without_secrets({**kept, **dict.fromkeys(secrets, "x")}) == kept


# -- to others ---------------------------------------------------------------------------------------------------------


@TCP
def test_nobody_is_connected_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert outcome("connects", server.getsockname()[1]) == "PermissionError"


@SIGNALS
def test_whoever_started_it_lives() -> None:
    assert outcome("kills", os.getpid()) == "PermissionError"
    assert outcome("kills_its_parent") == "PermissionError"


@SIGNALS
def test_the_group_of_its_parent_gets_no_signal() -> None:
    assert outcome("signals_its_parents_group") == "PermissionError"


@pytest.mark.parametrize("deed", ["traces", "writes_to_memory"])
def test_nobody_is_traced_or_changed(deed: str) -> None:
    assert outcome(deed, os.getpid()) in REFUSED


def test_no_program_gains_rights() -> None:
    assert outcome("gains_rights") == "never"


def test_a_daemon_ends_with_its_worker() -> None:
    daemon = int(outcome("leaves_a_daemon", 0))
    deadline = time.monotonic() + 20
    while Path(f"/proc/{daemon}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{daemon}").exists()


# -- of the machine ----------------------------------------------------------------------------------------------------


def test_a_fork_bomb_goes_off_in_the_limits() -> None:
    assert killed("forks_on", 2 * MOST_PROCESSES) == (End.EXCESS, f"started more than {MOST_PROCESSES} processes")


def test_memory_is_not_filled() -> None:
    assert killed("fills_memory", 4 * MEBIBYTES)[0] is End.MEMORY


def test_the_disk_is_not_filled() -> None:
    assert killed("fills_the_disk", 4 * MEBIBYTES) == (End.EXCESS, "wrote more than 0.0625 GiB, or a million files")


def test_no_file_is_much_larger_than_the_memory() -> None:
    assert outcome("makes_a_large_file", 4096) == "OSError"


def test_no_more_than_so_many_files_are_open() -> None:
    assert outcome("opens_files", 5000) == "OSError"
