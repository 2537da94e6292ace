"""Runs commands and says what they cost: CPU seconds and memory, which a busy machine does not change much."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from bench.corpus import ROOT


@dataclass(frozen=True)
class Ran:
    """What a command came to. `code` is negative for a signal, None where the time ran out."""

    code: int | None
    out: bytes
    err: bytes
    cpu: float
    wall: float
    peak_mib: float


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    limit: float | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Ran:
    """Run a command in a fresh process group; CPU seconds are its own and those of the children it waited for.

    `variables` are those of its environment that are others than here.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env={**environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            # What hangs would go on for ever if this process were killed before it kills it.
            preexec_fn=None if limit is None else partial(_limit_cpu, int(2 * limit) + 60),
        )
        expired = threading.Event()
        timer = threading.Timer(limit or threading.TIMEOUT_MAX, _kill, (process.pid, expired))
        timer.daemon = True
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Ran(
            code=None if expired.is_set() else process.returncode,
            out=out.read(),
            err=err.read(),
            cpu=usage.ru_utime + usage.ru_stime,
            wall=wall,
            peak_mib=usage.ru_maxrss / (1024 if sys.platform.startswith("linux") else 1024 * 1024),
        )


def environment() -> dict[str, str]:
    """The environment for what is run: this checkout's tritonaudit, and no colour."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "PYTHONPATH")}
    return {**kept, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def tritonaudit(*arguments: str | Path) -> list[str | Path]:
    """The command line of this checkout's tritonaudit."""
    return [sys.executable, "-m", "tritonaudit", *arguments]


def tool(name: str) -> Path | None:
    """An installed command: of this interpreter's environment, or else of PATH."""
    for folder in (Path(sys.executable).parent, *map(Path, os.get_exec_path())):
        if (folder / name).is_file():
            return folder / name
    return None


def marked(mark: str) -> list[int]:
    """The processes with that in their environment (Linux)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def _limit_cpu(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _kill(group: int, expired: threading.Event) -> None:
    expired.set()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
