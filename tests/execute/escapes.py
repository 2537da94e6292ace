"""What hostile code tries from within a worker: each deed gives what the operating system says of it, if it lives."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PTRACE_ATTACH = 16
_MEBIBYTE = 1 << 20


def attempted(task: tuple[Any, ...]) -> str:
    """Nothing where the deed of that name is done."""
    deed: Callable[..., Any] = globals()[task[0]]
    try:
        return str(deed(*task[1:]) or "")
    except OSError as error:
        return type(error).__name__


def writes(path: str) -> None:
    Path(path).write_text("forged")


def writes_through_a_link(path: str) -> None:
    link = Path.home() / "link"
    link.symlink_to(path)
    link.write_text("forged")


def connects(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), 5).close()


def reads_keys() -> str:
    return (Path.home() / ".ssh" / "id_ed25519").read_text()


def reads_variables(process: int) -> str:
    """The environment of the process, and where that cannot be had, the secrets in its own."""
    try:
        return Path(f"/proc/{process}/environ").read_text()
    except OSError:
        own = Path("/proc/self/environ").read_text() + str(os.environ)
        return "own" if "hunter2" in own else "none"


def kills(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def kills_its_parent() -> None:
    os.kill(os.getppid(), signal.SIGKILL)


def signals_its_parents_group() -> None:
    os.killpg(os.getpgid(os.getppid()), signal.SIGTERM)


def traces(process: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(_PTRACE_ATTACH, process, None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def writes_to_memory(process: int) -> None:
    open(f"/proc/{process}/mem", "r+b").close()


def gains_rights() -> str:
    """Whether a program that it starts could, by its set-user-ID bit."""
    status = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
    return "never" if "NoNewPrivs:\t1" in status else "perhaps"


def changes_mode(path: str) -> None:
    os.chmod(path, 0)


def forks_on(most: int) -> None:
    """A bomb, which ends on its own where nothing stops it; a shell forks faster than Python does."""
    subprocess.run(["sh", "-c", f"for _ in $(seq {most}); do sleep 60 & done; wait"], check=False)


def fills_memory(mebibytes: int) -> None:
    held = [b"x" * _MEBIBYTE for _ in range(mebibytes)]
    time.sleep(60)
    del held


def fills_the_disk(mebibytes: int) -> None:
    """In files none of which is large."""
    for number in range(mebibytes):
        (Path.home() / str(number)).write_bytes(b"x" * _MEBIBYTE)
    time.sleep(60)


def makes_a_large_file(mebibytes: int) -> None:
    """One that has no room on the disk yet."""
    with open(Path.home() / "large", "wb") as file:
        os.truncate(file.fileno(), mebibytes * _MEBIBYTE)


def opens_files(most: int) -> None:
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(most)]
    del held


def leaves_a_daemon(note: int) -> str:
    """The process of a daemon in a session of its own; the descriptor is not its."""
    reading, writing = os.pipe()
    if not os.fork():
        os.setsid()
        if daemon := os.fork():
            os.write(writing, str(daemon).encode())
            os._exit(0)
        time.sleep(60 + note)
        os._exit(0)
    return os.read(reading, 20).decode()
