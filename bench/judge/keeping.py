"""What a run has found is kept in files, for as long as the code that decides it stays as it is."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from bench.corpus import ROOT
from tritonaudit.data import NotData, decode, encode
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

Task = TypeVar("Task")
Found = TypeVar("Found")


_READ = ("api", "domains", "fixes", "host", "ir", "kernel", "queries", "source")
_FACTS = ("compile", "hardware", "measure")
_SINGLE = (
    *("config", "engine", "finding", "guards", "progress", "requirements", "results", "rule", "selection", "shown"),
    *("target", "vendors", "capture/launch", "subject/dimension", "subject/model", "suites/facts", "suites/sentences"),
)
BRAIN = (
    *(f"tritonaudit/{name}" for name in (*_READ, *_FACTS)),
    *(f"tritonaudit/{name}.py" for name in _SINGLE),
    "rules",
)
"""What decides what the source stage finds: all of ours that it loads."""


def folder(text: str) -> Path:
    """A work folder, as an option names it; paths of files in it are distinguished from others by how they begin."""
    return Path(text).absolute()


class Kept:
    """What became of tasks, a file each, in a folder of the work folder that is named after the code that decides it.

    The tasks' paths within the work folder are taken as from there: what is kept may be moved or linked elsewhere.
    """

    def __init__(self, work: Path, name: str, deciding: Iterable[str]) -> None:
        """`deciding` are files and folders of the checkout."""
        paths = [ROOT / name for name in deciding]
        files = sorted(file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path]))
        self._work = f"{work}{os.sep}"
        self._folder = work / name / digest("".join(file.read_text(encoding="utf-8") for file in files))
        self._folder.mkdir(parents=True, exist_ok=True)

    def get(self, task: object, kind: type[Found]) -> Found | None:
        """What the task has come to, if that is known."""
        try:
            return cast("Found", decode(kind, self._place(task).read_bytes()))
        except (OSError, NotData):
            return None

    def put(self, task: object, found: object) -> None:
        """Keep what a task has come to; a kill leaves the whole file or none."""
        place = self._place(task)
        half = place.with_suffix(".half")
        half.write_bytes(encode(found))
        half.replace(place)

    def _place(self, task: object) -> Path:
        return self._folder / f"{digest(repr(task).replace(self._work, ''))}.json"


def digest(text: str) -> str:
    """64 bits that stand for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def all_done(
    kept: Kept,
    kind: type[Found],
    work: Callable[[Task], Found],
    tasks: Sequence[Task],
    lost: Callable[[Task, str], Found],
    *,
    title: str,
    workers: int,
    limits: Limits,
    prepare: Callable[..., None] | None = None,
    arguments: tuple[Any, ...] | Callable[[Task], tuple[Any, ...]] = (),
    size: Callable[[Task], int] = lambda _: 0,
) -> list[Found]:
    """What the tasks come to, in their order: what is kept, and the rest tried now; `lost` is what a killed one is.

    The largest are begun first, so that no worker has one left when the others have none.
    """
    missing = sorted((task for task in tasks if kept.get(task, kind) is None), key=size, reverse=True)
    finished = run_tasks(work, missing, workers=workers, limits=limits, prepare=prepare, arguments=arguments)
    for number, (task, found) in enumerate(finished, 1):
        kept.put(task, lost(task, found.message) if isinstance(found, Killed) else found)
        print(f"{title}: {number} of {len(missing)}", file=sys.stderr, flush=True)
    return [found for task in tasks if (found := kept.get(task, kind)) is not None]
