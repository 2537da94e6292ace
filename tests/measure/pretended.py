"""What workers do in place of measuring, by the name of the subject: they take turns and tell rows, or die."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tritonaudit.execute.turns import Turns
from tritonaudit.execute.worker import send_note
from tritonaudit.finding import Status
from tritonaudit.measure.facts import NO_ROOM, Gpu, Row
from tritonaudit.measure.worker import Begun, Done, GpuTask, MeasureTask, ProfileTask
from tritonaudit.subject.model import Case

GPU = Gpu("a GPU that is none", "1.0")
SIZES = ("small", "medium", "large")


def become(is_timing: bool = True) -> None:
    """Nothing is prepared."""


def measure(task: GpuTask | MeasureTask | ProfileTask) -> Gpu | None:
    """Each size is prepared for long and timed for short; nothing is profiled."""
    if isinstance(task, GpuTask):
        return GPU
    if isinstance(task, ProfileTask):
        return None
    if task.subject == "broken":
        raise ValueError("it cannot be loaded")
    folder = task.path.parent
    turns = Turns(folder)
    with turns.shared(60):
        _say(folder, "begins")
        for size in SIZES:
            send_note(Begun(Case(), size), 60)
            time.sleep(0.3)
            if task.subject == "crashing" and size == "medium":
                os.abort()
            with turns.exclusive(60):
                _say(folder, "times")
                time.sleep(0.05)
                _say(folder, "timed")
            send_note(Done(_row(task, size)), 60)
    return None


def lose_the_gpu(task: GpuTask | MeasureTask | ProfileTask) -> Gpu | None:
    """What the GPU can reach cannot be measured."""
    if isinstance(task, GpuTask):
        os.abort()
    return measure(task)


def _row(task: MeasureTask, size: str) -> Row:
    """A row without times; a `cramped` subject has no room for its second size the first time."""
    is_cramped = task.subject == "cramped" and size == "medium" and not _is_again(task.path.parent)
    return Row(Case(), size, Status.NOT_RUN, f"it {NO_ROOM}" if is_cramped else f"{size} of {task.subject}")


def _is_again(folder: Path) -> bool:
    """Whether this was asked before."""
    mark = folder / "asked"
    was = mark.exists()
    mark.touch()
    return was


def _say(folder: Path, what: str) -> None:
    log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{what} {os.getpid()}\n".encode())
    os.close(log)
