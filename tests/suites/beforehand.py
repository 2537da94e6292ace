"""What a worker does in tests that calls subjects apart, on something that is like a GPU to whoever asks."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from tritonaudit.suites import harness
from tritonaudit.suites.apart import process
from tritonaudit.suites.on_cpu import CpuEngine


class LikeAGpu(CpuEngine):
    """The CPU engine, in a process of its own that is not forked from one that has it already."""

    is_engine = False


def _brought_up() -> LikeAGpu:
    device = LikeAGpu()
    harness.remember()
    return device


def _broken() -> NoReturn:
    raise OSError("no GPU")


def called_apart(task: tuple[Path, bool]) -> list[tuple[str, bool]]:
    """The names of a file's subjects, each with whether it is called in the process that was begun beforehand."""
    path, comes_up = task
    process._own_gpu = _brought_up if comes_up else _broken
    process.prepare_apart()
    with process.one_beforehand():
        device = LikeAGpu()
    waits = process._waiting and process._waiting[1]
    found = []
    for name in ("once", "again"):
        with process.judged_apart(device, path, name) as subject:
            found.append((subject.name, subject.function.caller._process == waits))
    return found
