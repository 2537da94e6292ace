"""Has workers try subjects, each to its end, whatever that does to the workers."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tritonaudit.capture.task import IMPORT_SECONDS
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Feed, Limits, run_tasks
from tritonaudit.execute.reserve import Reserve
from tritonaudit.shown import shown_path
from tritonaudit.subject.alike import judged_alike
from tritonaudit.suites.blame import blamed
from tritonaudit.suites.journal import REST, Begun, Ended, Entry, Journal, Opined, Stopped
from tritonaudit.suites.late import MOST_SECONDS, longest
from tritonaudit.suites.opinion import LONGEST_SECONDS, Opinion
from tritonaudit.suites.trials import CORE_SECONDS, SubjectTask
from tritonaudit.suites.worker import audit_subject, become_device

SubjectKey = tuple[Path, str]
"""A subject: its file, and its name there."""
_Part = tuple[SubjectKey, bool]
"""Of a subject what one worker tries: all, or, where a GPU does that, only its memory on the CPU engine."""

_MOST_DEATHS, _MOST_AT_FIRST = 6, 3
"""Of workers on one subject, and where none has come to the end of any trial: after them the rest of it is not run."""
_MEMORY = 8 << 30
_MEMORY_SHARE = 0.75


@dataclass(frozen=True)
class Means:
    """What subjects are tried with: seconds and cases for each, workers at once, on the GPU or not.

    With `cross_checks` the interpreter is asked for a second opinion, too. The `seed` draws what nobody can foresee.
    """

    seconds: float
    most_cases: int | None
    jobs: int
    on_gpu: bool
    cross_checks: bool = False
    seed: int = 0


@dataclass
class Runner:
    """Tries subjects. What they come to is in their journals; `lost` says which could not be tried at all, and why.

    Where a GPU tries them, the CPU engine looks at their memory meanwhile: those journals are `watched`.

    `heard` learns of each entry, `ended` of each subject that nothing more is tried of.
    """

    means: Means
    journals: Mapping[SubjectKey, Journal]
    watched: Mapping[SubjectKey, Journal]
    heard: Callable[[SubjectKey, Entry], None]
    ended: Callable[[SubjectKey], None]
    lost: dict[SubjectKey, Killed] = field(default_factory=dict)
    _deaths: Counter[_Part] = field(default_factory=Counter)
    _survived: set[_Part] = field(default_factory=set)
    _latest: dict[_Part, float] = field(default_factory=dict)

    def run(self) -> None:
        """Try every subject to its end; one whose worker dies goes on in another one behind the case that killed it."""
        left = {key: self._unfinished(key) for key in self.journals}
        for key, parts in left.items():
            if not parts:
                self.ended(key)
        under_way = [part for parts in left.values() for part in parts]
        if not under_way:
            return
        with Feed(map(self._task, under_way)) as feed:
            for task, outcome in self._outcomes(feed):
                part = _part(task)
                if isinstance(outcome, Killed) and self._goes_on(part, outcome):
                    feed.add(self._task(part))
                    continue
                left[task.key].remove(part)
                under_way.remove(part)
                if not left[task.key]:
                    self.ended(task.key)
                if not under_way:
                    feed.close()

    def _unfinished(self, key: SubjectKey) -> list[_Part]:
        parts = [(key, False), (key, True)] if key in self.watched else [(key, False)]
        return [part for part in parts if self._journal(part).read().stopped is None]

    def _journal(self, part: _Part) -> Journal:
        key, only_watches = part
        return (self.watched if only_watches else self.journals)[key]

    def _task(self, part: _Part) -> SubjectTask:
        """What is to be gone on with of it."""
        key, only_watches = part
        means, record = self.means, self._journal(part).read()
        most, crosses = means.most_cases, means.cross_checks
        return SubjectTask(*key, means.seconds, record, most, crosses, only_watches, means.seed)

    def _outcomes(self, feed: Feed[SubjectTask]) -> Iterator[tuple[SubjectTask, Killed | None]]:
        means = self.means
        whole = IMPORT_SECONDS + max(means.seconds, CORE_SECONDS) + 2 * longest(MOST_SECONDS)
        whole += LONGEST_SECONDS if means.cross_checks else 0.0
        return run_tasks(
            audit_subject,
            feed,
            workers=means.jobs,
            limits=Limits(whole, memory(means.jobs)),
            prepare=become_device,
            arguments=lambda task: (means.on_gpu and not task.only_watches,),
            hear=self._hear,
            hears=Entry,
            reserve=_reserve,
            kin=self._kin,
        )

    def _kin(self, task: SubjectTask) -> str:
        """What subjects have in common that one worker may judge; that of an engine forks their processes itself."""
        return judged_alike(task.path) if self.means.on_gpu and not task.only_watches else ""

    def _hear(self, task: SubjectTask, entry: Entry) -> None:
        self._latest[_part(task)] = time.monotonic()
        self._journal(_part(task)).add(entry)
        if isinstance(entry, Ended):
            self._survived.add(_part(task))
        self.heard(task.key, entry)

    def _goes_on(self, part: _Part, killed: Killed) -> bool:
        """Note what killed a worker as what its trial came to; whether another worker has more to try."""
        key, only_watches = part
        journal = self._journal(part)
        record = journal.read()
        spent = record.spent
        if record.under_way is None and not record.ended:
            if not only_watches:
                self.lost[key] = killed
            return False
        if record.stopped is not None:
            journal.add(Opined(Opinion("", reason=f"its process {killed.message}"), spent))
            return False
        if isinstance(begun := record.under_way, Begun):
            seconds = time.monotonic() - self._latest.get(part, time.monotonic())
            spent += seconds
            journal.add(Ended(begun.trial, blamed(*key, record, begun, killed, seconds), spent))
        self._deaths[part] += 1
        most = _MOST_DEATHS if part in self._survived else _MOST_AT_FIRST
        if self._deaths[part] < most and spent < max(self.means.seconds, CORE_SECONDS):
            return True
        why = f"its process {killed.message}"
        journal.add(Stopped(((REST, why),), spent, why))
        return False


def _part(task: SubjectTask) -> _Part:
    return task.key, task.only_watches


_reserve: Reserve | None = None


def keep_judges(most: int) -> None:
    """From now on have later audits of this process go on with the workers of those before, so many at most.

    Only those that have a GPU up, and in which nothing of the user's has been run but the same reference.
    """
    global _reserve
    _reserve = Reserve(most)


_sharing = 1


def share_memory(audits: int) -> None:
    """So many audits go on in the machine at once: each may hold that part of what it may hold alone."""
    global _sharing
    _sharing = audits


def memory(jobs: int) -> int:
    """The bytes that one of so many workers may hold."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(_MEMORY, int(physical * _MEMORY_SHARE / (jobs * _sharing)))


def shown_subject(key: SubjectKey) -> str:
    """A subject as progress calls it: its file and its name."""
    path, name = key
    return f"{shown_path(path)}: {name}"
