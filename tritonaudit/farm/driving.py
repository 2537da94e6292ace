"""Drives a farm: gives to places what the scheduler says, and hands on the line of each subject."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tritonaudit.config import Config
from tritonaudit.farm.events import Answered, Event, FarmError, Joined, Left, Places
from tritonaudit.farm.job import Answer, Job
from tritonaudit.farm.scheduler import MOST_TRIES, Ending, Lease, Scheduler
from tritonaudit.finding import Audit, Problem
from tritonaudit.report.jsonl import line_of, written

_PATIENCE = 120.0
"""Seconds for which there may be no place that could go on."""


@dataclass(frozen=True)
class Reported:
    """The line of a subject, as it is written."""

    path: str
    verdict: str
    line: str


@dataclass
class Driver:
    """Has the files audited, each given with its path as it is shown and its digest.

    What `more` gives is audited, too; it is asked again and again, at least every `tick` seconds.
    """

    files: Iterable[tuple[str, str]]
    config: Config
    places: Places
    patience: float = _PATIENCE
    more: Callable[[], Sequence[tuple[str, str]]] = tuple
    tick: float = 1.0
    _files: dict[int, tuple[str, str]] = field(init=False)
    """Those that have no line yet: others may come for as long as a program trains."""
    _tried: dict[int, bytes] = field(default_factory=dict)
    _reasons: dict[int, str] = field(default_factory=dict)
    _leases: dict[int, Lease] = field(default_factory=dict)
    _scheduler: Scheduler = field(init=False)

    def __post_init__(self) -> None:
        self._files = dict(enumerate(self.files))
        self._scheduler = Scheduler(len(self._files))

    def lines(self) -> Iterator[Reported]:
        """The lines as they come, one of each file. Raises FarmError where no place is left for too long."""
        scheduler = self._scheduler
        self._take_more()
        until = time.monotonic() + self.patience
        while not scheduler.is_over:
            for lease in scheduler.starts():
                self._start(lease)
            if not scheduler.is_stuck:
                until = time.monotonic() + self.patience
            elif time.monotonic() >= until:
                raise FarmError(f"there has been no place to go on for {self.patience:.0f} s")
            for event in self.places.events(self.tick):
                yield from self._heard(event, scheduler)
            self._take_more()

    def _take_more(self) -> None:
        for file in self.more():
            self._files[self._scheduler.add()] = file

    def _start(self, lease: Lease) -> None:
        path, digest = self._files[lease.subject]
        self._leases[lease.number] = lease
        self.places.start(lease.place, Job(lease.number, path, digest, self._tried.get(lease.subject, b"")))

    def _heard(self, event: Event, scheduler: Scheduler) -> Iterator[Reported]:
        match event:
            case Joined(place):
                scheduler.join(place)
            case Left(name):
                for number in [number for number, lease in self._leases.items() if lease.place == name]:
                    self._reasons[self._leases.pop(number).subject] = "its process, or its machine, died"
                for subject, ending in scheduler.leave(name):
                    yield from self._given_up(subject, ending)
            case Answered(answer):
                lease = self._leases.pop(answer.number, None)
                if lease is not None:
                    yield from self._answered(lease, answer, scheduler)

    def _answered(self, lease: Lease, answer: Answer, scheduler: Scheduler) -> Iterator[Reported]:
        subject = lease.subject
        if answer.failure:
            self._reasons[subject] = answer.failure
            yield from self._given_up(subject, scheduler.failed(lease.number))
        elif answer.tried:
            self._tried[subject] = answer.tried
            scheduler.tried(lease.number, is_to_be_timed=True)
        else:
            is_timed = self._tried.pop(subject, None) is not None
            ending = scheduler.timed(lease.number) if is_timed else scheduler.tried(lease.number, is_to_be_timed=False)
            if ending is Ending.DONE:
                self._reasons.pop(subject, None)
                yield Reported(self._files.pop(subject)[0], answer.verdict, answer.line)

    def _given_up(self, subject: int, ending: Ending) -> Iterator[Reported]:
        """The line of a subject that nothing could be made of, which says why."""
        if ending is not Ending.GIVEN_UP:
            return
        self._tried.pop(subject, None)
        path, digest = self._files.pop(subject)
        reason = self._reasons.pop(subject)
        problem = Problem(path, f"was tried {MOST_TRIES} times to no end: {reason}")
        line = line_of(path, digest, Audit(problems=(problem,)), (), self.config)
        yield Reported(path, line["verdict"], written(line))
