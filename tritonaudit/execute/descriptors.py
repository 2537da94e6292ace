"""Descriptors of files that are passed to other processes."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress


def open_pipe() -> tuple[int, int]:
    """The reading and the writing end of a new pipe."""
    reading, writing = os.pipe()
    return above_streams(reading), above_streams(writing)


def above_streams(descriptor: int) -> int:
    """The same file under a number above those of the standard streams, which this process may lack."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def close_all_but(kept: set[int]) -> None:
    """Close every other descriptor of this process (Linux)."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            with suppress(OSError):  # that of the listing itself
                os.close(int(name))
