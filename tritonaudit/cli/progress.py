"""How an audit gets on, on stderr: a display on a terminal, gone in the end, and elsewhere a line for each subject."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tritonaudit.progress import SILENT, Progress
from tritonaudit.report.escape import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


@contextmanager
def shown_progress(*, lines: bool) -> Iterator[Progress]:
    """Show progress while this lasts; where stderr is no terminal by `lines`, or not at all."""
    if not sys.stderr.isatty():
        yield _Lines() if lines else SILENT
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(file=sys.stderr)
    with Bars(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bars:
        yield _Display(bars)


LATE = 2.0
"""Seconds that one waits without being told why."""
_OFTEN = 0.1


@contextmanager
def late_progress() -> Iterator[Progress]:
    """A bar while this lasts, from the first item on that ends late; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield SILENT
        return
    bar = _LateBar(time.monotonic() + LATE)
    try:
        yield bar
    finally:
        bar.end()


class _LateBar(Progress):
    """Drawn as items end, by no thread of its own: processes are forked meanwhile."""

    def __init__(self, at: float) -> None:
        self._at = at
        self._name, self._items, self._ended = "", 0, 0
        self._bars: Bars | None = None

    def stage(self, name: str, items: int) -> None:
        self._name, self._items, self._ended = name, items, 0

    def done(self, item: str, summary: str) -> None:
        self._ended += 1
        if time.monotonic() >= self._at:
            self._at = time.monotonic() + _OFTEN
            self._draw()

    def _draw(self) -> None:
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as Bars

            self._bars = Bars(
                TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), MofNCompleteColumn(),
                console=Console(file=sys.stderr), transient=True, auto_refresh=False,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._bars.start()
            self._bars.add_task(self._name, total=self._items)
        self._bars.update(self._bars.task_ids[0], completed=self._ended, refresh=True)

    def end(self) -> None:
        if self._bars is not None:
            self._bars.stop()


class _Lines(Progress):
    def note(self, item: str, text: str) -> None:
        print(visible(f"{item}: {text}"), file=sys.stderr, flush=True)

    def done(self, item: str, summary: str) -> None:
        if item:
            print(visible(f"{item}: {summary}"), file=sys.stderr, flush=True)


class _Display(Progress):
    """A bar for the stage, and below it what is being worked on."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._stage: TaskID | None = None
        self._items: dict[str, TaskID] = {}

    def stage(self, name: str, items: int) -> None:
        for shown in (*self._items.values(), *(() if self._stage is None else (self._stage,))):
            self._bars.remove_task(shown)
        self._items.clear()
        self._stage = self._bars.add_task(name, total=items or None)

    def doing(self, item: str, detail: str) -> None:
        text = visible(f"{item}: {detail}")
        if item not in self._items:
            self._items[item] = self._bars.add_task(text, total=None)
        self._bars.update(self._items[item], description=text)

    def note(self, item: str, text: str) -> None:
        self._bars.console.print(visible(f"{item}: {text}"), markup=False, highlight=False)

    def done(self, item: str, summary: str) -> None:
        if item in self._items:
            self._bars.remove_task(self._items.pop(item))
        if self._stage is not None:
            self._bars.advance(self._stage)

    def beside(self) -> Progress:
        return _Display(self._bars)
