"""The process between the pool and a worker: it watches what the worker takes, and outlives it to leave nothing behind.

It is the leader of a session, and starts the worker as its only child. When the worker ends, takes too much memory,
room on the disk or processes, or the pool closes the supervisor's stdin or the supervisor's own parent is gone, the
supervisor kills what is left of the worker and of the processes that the worker started, and says on its stdout how the
worker ended.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import time
import traceback
from dataclasses import astuple
from typing import NoReturn

from tritonaudit.execute.confine import scratch_for_worker
from tritonaudit.execute.limits import MOST_PROCESSES, FolderWatch, limit_files
from tritonaudit.execute.processes import (
    MemoryWatch,
    adopt_orphans,
    be_killed_first,
    descendants,
    die_with_parent,
    unbuffer_c_stdout,
)
from tritonaudit.execute.worker import Channel, serve

OUT_OF_MEMORY = "memory"
TOO_MANY_PROCESSES = "processes"
TOO_MUCH_WRITTEN = "written"
ASKED_TO_END = "asked"

_TICK = 0.05  # seconds
_KILL_SECONDS = 4.0  # a process in the midst of a driver's call can take its time to die
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05  # seconds: each look goes through all processes of the machine
_LOG_BYTES = 1 << 20
_LOG_KEPT = 1 << 15


def main() -> NoReturn:
    """Run a worker to its end; the arguments are the pipes' and the log's descriptors, and the memory in bytes."""
    channel, memory = Channel(*map(int, sys.argv[1:5])), int(sys.argv[5])
    del sys.argv[1:]
    for descriptor in astuple(channel):
        os.set_inheritable(descriptor, False)
    supervise(channel, memory)


def supervise(channel: Channel, memory: int, inherited: int = 0) -> NoReturn:
    """Run a worker to its end; it may hold `memory` bytes beside the inherited ones that this process began with."""
    parent = os.getppid()
    adopt_orphans()
    scratch = scratch_for_worker()
    worker = os.fork()
    if worker == 0:
        _work(channel, memory + inherited)
    with contextlib.suppress(OSError):
        os.setpgid(worker, worker)
    os.close(channel.requests)
    os.close(channel.replies)
    try:
        end = _wait(worker, parent, channel.log, MemoryWatch(worker, memory, inherited), FolderWatch(scratch, memory))
    finally:
        _kill_all(worker)
        shutil.rmtree(scratch, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.write(1, end.encode())
    os._exit(0)


def _work(channel: Channel, memory: int) -> NoReturn:
    supervisor = os.getppid()
    try:
        os.setpgid(0, 0)
        die_with_parent(signal.SIGKILL)
        adopt_orphans()
        be_killed_first()
        limit_files(memory)
        unbuffer_c_stdout()
        if os.getppid() == supervisor:
            serve(channel, memory)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _wait(worker: int, parent: int, log: int, memory: MemoryWatch, written: FolderWatch) -> str:
    """Wait for the worker's end: its exit code, minus the number of the signal that killed it, or why it must end."""
    while True:
        asked, _, _ = select.select([0], [], [], _TICK)
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            return str(os.waitstatus_to_exitcode(status))
        if asked or os.getppid() != parent:
            return ASKED_TO_END
        if memory.is_exceeded():
            return OUT_OF_MEMORY
        if memory.children > MOST_PROCESSES:
            return TOO_MANY_PROCESSES
        if written.is_exceeded():
            return TOO_MUCH_WRITTEN
        _shorten(log)


def _shorten(log: int) -> None:
    """Keep the end of a log that grows without end; the log is open for appending."""
    size = os.fstat(log).st_size
    if size > _LOG_BYTES:
        kept = os.pread(log, _LOG_KEPT, size - _LOG_KEPT)
        os.ftruncate(log, 0)
        os.write(log, kept)


def _kill_all(worker: int) -> None:
    """Kill the worker's process group, and every process that came from it, whatever its group or session is now."""
    deadline, pause = time.monotonic() + _KILL_SECONDS, _FIRST_PAUSE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            os.killpg(worker, signal.SIGKILL)
        for process in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
