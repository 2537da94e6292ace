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
from tritonaudit.suites.worker import SubjectTask, audit_subject, become_device

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

    `heard` is told of each entry, `ended` of each subject that nothing more is tried of.
    """

    means: Means
    journals: Mapping[SubjectKey, Journal]
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

    def _run(self, subjects: Sequence[SubjectKey]) -> list[SubjectKey]:
        """Try each of them once; those that are to be gone on with."""
        means = self.means
        tasks = [
            SubjectTask(*key, means.seconds, self.journals[key].read(), means.most_cases, means.cross_checks)
            for key in subjects
        ]
        whole = IMPORT_SECONDS + means.seconds + 2 * longest(MOST_SECONDS)
        whole += LONGEST_SECONDS if means.cross_checks else 0.0
        again: list[SubjectKey] = []
        for task, outcome in run_tasks(
            audit_subject,
            tasks,
            workers=means.jobs,
            limits=Limits(whole, memory(means.jobs)),
            prepare=become_device,
            arguments=(means.on_gpu,),
            hear=self._hear,
        ):
            if isinstance(outcome, Killed) and self._goes_on(task.key, outcome):
                again.append(task.key)
            else:
                self.ended(task.key)
        return again

    def _hear(self, task: SubjectTask, entry: Entry) -> None:
        self._latest[task.key] = time.monotonic()
        self.journals[task.key].add(entry)
        self.heard(task.key, entry)

    def _goes_on(self, key: SubjectKey, killed: Killed) -> bool:
        """Note what killed a worker as what its trial came to; whether another worker has more to try."""
        journal = self.journals[key]
        record = journal.read()
        spent = record.spent
        if record.under_way is None and not record.ended:
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
        if self._deaths[key] < _MOST_DEATHS and spent < self.means.seconds:
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
