"""The facts of the kernels that a subject launches, held against these launches. For worker processes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bench.judge.executing import called, loaded
from bench.judge.facts.comparing import Compared, compared
from bench.judge.facts.seen import Watching
from bench.judge.facts.stated import Stated, stated_of
from bench.judge.facts.written import as_written
from bench.judge.noted import Noted

_SECONDS = 20.0


@dataclass(frozen=True)
class Task:
    """A subject of a file, its healthy cases, and the folder of the package."""

    spec: Path
    subject: str
    cases: tuple[Noted, ...]
    root: Path


@dataclass(frozen=True)
class Held:
    """What each launch came to, and why something could not be looked at."""

    launches: tuple[Compared, ...]
    reason: str = ""


def hold(task: Task) -> Held:
    """Execute the cases of a task, and compare."""
    from tritonaudit.simulator.fresh import FreshMemory

    subjects, reason = loaded(task.spec)
    subject = next((one for one in subjects if one.name == task.subject), None)
    if subject is None:
        return Held((), reason or f"{task.spec.name}: it has no subject {task.subject}")
    found = []
    for one in task.cases:
        watching = Watching()
        with as_written():
            _, error, _ = called(subject, one, _SECONDS, FreshMemory(), watching.launch)
        reason = reason or error
        for watched in watching.launches:
            kernel = watched.launch.kernel
            if Path(kernel.path).is_relative_to(task.root):
                stated = _stated(task.root, kernel.path, kernel.name.rpartition(".")[2], kernel.line)
                found.append(compared(stated, watched))
    return Held(tuple(found), f"{task.spec.name}: {reason}" if reason else "")


@lru_cache(maxsize=64)
def _stated(root: Path, path: str, name: str, line: int) -> tuple[Stated, ...]:
    return tuple(stated_of(root, path, name, line))
