"""Has workers try subjects, each to its end, whatever that does to the workers."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tritonaudit.capture.task import IMPORT_SECONDS
from tritonaudit.engine import shown_path
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.suites.blame import blamed
from tritonaudit.suites.journal import REST, Begun, Ended, Entry, Journal, Opined, Stopped
from tritonaudit.suites.late import MOST_SECONDS, longest
from tritonaudit.suites.opinion import LONGEST_SECONDS, Opinion
from tritonaudit.suites.worker import CORE_SECONDS, SubjectTask, audit_subject, become_device

SubjectKey = tuple[Path, str]
"""A subject: its file, and its name there."""

_MOST_DEATHS = 6
"""Of workers on one subject: after them the rest of it is not run."""
_MEMORY = 8 << 30
_MEMORY_SHARE = 0.75


@dataclass(frozen=True)
class Means:
    """What subjects are tried with: seconds and cases for each, workers at once, on the GPU or not.

    With `cross_checks` the interpreter is asked for a second opinion, too.
    """

    seconds: float
    most_cases: int | None
    jobs: int
    on_gpu: bool
    cross_checks: bool = False


@dataclass
class Runner:
    """Tries subjects. What they come to is in their journals; `lost` says which could not be tried at all, and why.

    Where a GPU tries them, the CPU engine then looks at their memory: those journals are `watched`.

    `heard` is told of each entry, `ended` of each subject that nothing more is tried of.
    """

    means: Means
    journals: Mapping[SubjectKey, Journal]
    watched: Mapping[SubjectKey, Journal]
    heard: Callable[[SubjectKey, Entry], None]
    ended: Callable[[SubjectKey], None]
    lost: dict[SubjectKey, Killed] = field(default_factory=dict)
    _deaths: Counter[SubjectKey] = field(default_factory=Counter)
    _latest: dict[SubjectKey, float] = field(default_factory=dict)

    def run(self) -> None:
        """Try every subject to its end; one whose worker dies goes on in another one behind the case that killed it."""
        waiting = []
        for key, journal in self.journals.items():
            if journal.read().stopped is None:
                waiting.append(key)
            else:
                self.ended(key)
        while waiting:
            waiting = self._run(waiting)
        waiting = [key for key, journal in self.watched.items() if journal.read().stopped is None]
        while waiting := [key for key in waiting if key not in self.lost]:
            waiting = self._run(waiting, only_watches=True)

    def _run(self, subjects: Sequence[SubjectKey], *, only_watches: bool = False) -> list[SubjectKey]:
        """Try each of them once; those that are to be gone on with."""
        means = self.means
        journals = self._journals(only_watches=only_watches)
        tasks = [
            SubjectTask(*key, means.seconds, journals[key].read(), means.most_cases, means.cross_checks, only_watches)
            for key in subjects
        ]
        whole = IMPORT_SECONDS + max(means.seconds, CORE_SECONDS) + 2 * longest(MOST_SECONDS)
        whole += LONGEST_SECONDS if means.cross_checks else 0.0
        again: list[SubjectKey] = []
        for task, outcome in run_tasks(
            audit_subject,
            tasks,
            workers=means.jobs,
            limits=Limits(whole, memory(means.jobs)),
            prepare=become_device,
            arguments=(means.on_gpu and not only_watches,),
            hear=self._hear,
        ):
            if isinstance(outcome, Killed) and self._goes_on(task, outcome):
                again.append(task.key)
            elif not self.watched or only_watches or task.key in self.lost:
                self.ended(task.key)
        return again

    def _hear(self, task: SubjectTask, entry: Entry) -> None:
        self._latest[task.key] = time.monotonic()
        self._journals(only_watches=task.only_watches)[task.key].add(entry)
        self.heard(task.key, entry)

    def _journals(self, *, only_watches: bool) -> Mapping[SubjectKey, Journal]:
        return self.watched if only_watches else self.journals

    def _goes_on(self, task: SubjectTask, killed: Killed) -> bool:
        """Note what killed a worker as what its trial came to; whether another worker has more to try."""
        key = task.key
        journal = self._journals(only_watches=task.only_watches)[key]
        record = journal.read()
        spent = record.spent
        if record.under_way is None and not record.ended:
            if not task.only_watches:
                self.lost[key] = killed
            return False
        if record.stopped is not None:
            journal.add(Opined(Opinion("", reason=f"its process {killed.message}"), spent))
            return False
        if isinstance(begun := record.under_way, Begun):
            seconds = time.monotonic() - self._latest.get(key, time.monotonic())
            spent += seconds
            journal.add(Ended(begun.trial, blamed(*key, record, begun, killed, seconds), spent))
        self._deaths[key] += 1
        if self._deaths[key] < _MOST_DEATHS and spent < max(self.means.seconds, CORE_SECONDS):
            return True
        journal.add(Stopped(((REST, f"its process {killed.message}"),), spent))
        return False


def memory(jobs: int) -> int:
    """The bytes that one of so many workers may hold."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(_MEMORY, int(physical * _MEMORY_SHARE / jobs))


def shown_subject(key: SubjectKey) -> str:
    """A subject as progress calls it: its file and its name."""
    path, name = key
    return f"{shown_path(path)}: {name}"
