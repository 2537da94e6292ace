"""Which subject is tried, or timed, where and when: a state machine that knows no process, no cluster and no clock.

Whoever runs it tells it of places that come and go, starts the leases that it gives, and tells it how each ended. Of
each subject it says exactly once that it is done or given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

MOST_TRIES = 3
"""The first, and two elsewhere."""
_TO_BE_TIMED = 4
"""Subjects for each that is timed at once that may wait for it: what they came to until then is kept in memory."""


class Stage(Enum):
    """What a lease is for."""

    TRY = "try"
    TIME = "time"


class Ending(Enum):
    """What the end of a lease means for its subject; STALE is one that was given to another place meanwhile."""

    DONE = "done"
    AGAIN = "again"
    GIVEN_UP = "given up"
    STALE = "stale"


@dataclass(frozen=True)
class Place:
    """Where subjects are tried, so many at once. One with a GPU also `times` so many, which take turns on it."""

    name: str
    slots: int
    times: int = 0


@dataclass(frozen=True)
class Lease:
    """A stage of a subject, given to a place. The number is never given again."""

    number: int
    subject: int
    stage: Stage
    place: str


@dataclass
class _Subject:
    number: int
    stage: Stage = Stage.TRY
    failures: int = 0
    failed_at: set[str] = field(default_factory=set)

    @property
    def is_last_try(self) -> bool:
        return self.failures == MOST_TRIES - 1


@dataclass
class _Held:
    """A place with what it holds, and whether a last try has it to itself."""

    place: Place
    tried: set[int] = field(default_factory=set)
    timed: set[int] = field(default_factory=set)
    is_reserved: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.tried and not self.timed

    def can(self, stage: Stage) -> bool:
        if self.is_reserved:
            return False
        if stage is Stage.TIME:
            return len(self.timed) < self.place.times
        return len(self.tried) < self.place.slots

    def take(self, lease: Lease) -> None:
        if lease.stage is Stage.TIME:
            self.timed.add(lease.number)
        else:
            self.tried.add(lease.number)

    def give_back(self, number: int) -> None:
        self.tried.discard(number)
        self.timed.discard(number)
        self.is_reserved = False if self.is_empty else self.is_reserved


class Scheduler:
    """Subjects from 0 to `subjects` - 1, in that order as far as there is no reason for another.

    A subject that failed is tried again at a place where it has not, as long as there is one. Its last try has a place
    to itself, so that a subject that brings places down takes nobody else down with it for good.
    """

    def __init__(self, subjects: int) -> None:
        self._fresh = deque(_Subject(number) for number in range(subjects))
        self._again: list[_Subject] = []
        self._to_time: deque[_Subject] = deque()
        self._places: dict[str, _Held] = {}
        self._leases: dict[int, tuple[Lease, _Subject]] = {}
        self._numbers = 0
        self._left = self._subjects = subjects

    def add(self) -> int:
        """One more subject, behind the others: its number."""
        self._fresh.append(_Subject(self._subjects))
        self._subjects += 1
        self._left += 1
        return self._subjects - 1

    @property
    def is_over(self) -> bool:
        """Whether it has been said of each subject what became of it."""
        return self._left == 0

    @property
    def is_stuck(self) -> bool:
        """Whether there is something to do, and no place that could, now or once what is under way has ended."""
        return (
            not self.is_over
            and not self._leases
            and not any(
                held.place.times or self._fresh or any(one.stage is Stage.TRY for one in self._again)
                for held in self._places.values()
            )
        )

    def join(self, place: Place) -> None:
        """There is one more place. Raises ValueError where one of its name is there, or it has no slot."""
        if place.name in self._places or place.slots < 1:
            raise ValueError(f"a place of the name {place.name!r} with {place.slots} slots")
        self._places[place.name] = _Held(place)

    def leave(self, name: str) -> list[tuple[int, Ending]]:
        """A place is gone: what becomes of each subject that it held."""
        held = self._places.pop(name, None)
        if held is None:
            return []
        numbers = sorted(held.tried | held.timed)
        return [(self._leases[number][0].subject, self.failed(number)) for number in numbers]

    def starts(self) -> Iterator[Lease]:
        """What is to be started now, where: each at the place with the most room, so that none stays idle.

        Timing comes first: there are fewer slots for it than for anything else.
        """
        free = self._with_room()
        while free:
            held = min(free, key=self._fullness)
            if (subject := self._next_for(held)) is None:
                free.remove(held)
            else:
                yield self._lease(subject, held)

    def tried(self, number: int, *, is_to_be_timed: bool) -> Ending:
        """A lease for trying ended; the subject is done, or waits to be timed (AGAIN)."""
        subject = self._taken_back(number)
        if subject is None:
            return Ending.STALE
        if not is_to_be_timed:
            return self._end(Ending.DONE)
        subject.stage = Stage.TIME
        if subject.failures:  # where it has failed matters still
            self._again.append(subject)
        else:
            self._to_time.append(subject)
        return Ending.AGAIN

    def timed(self, number: int) -> Ending:
        """A lease for timing ended, and with it the subject."""
        return Ending.STALE if self._taken_back(number) is None else self._end(Ending.DONE)

    def failed(self, number: int) -> Ending:
        """A lease came to nothing, through no fault of the subject that is known."""
        place = self._leases[number][0].place if number in self._leases else ""
        subject = self._taken_back(number)
        if subject is None:
            return Ending.STALE
        subject.failures += 1
        subject.failed_at.add(place)
        if subject.failures >= MOST_TRIES:
            return self._end(Ending.GIVEN_UP)
        self._again.append(subject)
        return Ending.AGAIN

    def _end(self, ending: Ending) -> Ending:
        self._left -= 1
        return ending

    def _fullness(self, held: _Held) -> tuple[float, float]:
        """By which the emptiest place is found: first for timing, where something waits for that."""
        timed = len(held.timed) / max(1, held.place.times) if self._to_time else 0.0
        return timed, len(held.tried) / held.place.slots

    def _with_room(self) -> list[_Held]:
        """The places with room for what waits."""
        tries = bool(self._again) or (bool(self._fresh) and not self._is_behind_with_timing())
        times = bool(self._again or self._to_time)
        return [
            held
            for held in self._places.values()
            if (tries and held.can(Stage.TRY)) or (times and held.can(Stage.TIME))
        ]

    def _lease(self, subject: _Subject, held: _Held) -> Lease:
        self._numbers += 1
        lease = Lease(self._numbers, subject.number, subject.stage, held.place.name)
        self._leases[lease.number] = lease, subject
        held.take(lease)
        held.is_reserved = subject.is_last_try
        return lease

    def _taken_back(self, number: int) -> _Subject | None:
        """The subject of a lease that has ended; None where that was ended before."""
        lease, subject = self._leases.pop(number, (None, None))
        if lease is None:
            return None
        if (held := self._places.get(lease.place)) is not None:
            held.give_back(number)
        return subject

    def _next_for(self, held: _Held) -> _Subject | None:
        for subject in self._again:
            if self._suits(subject, held):
                self._again.remove(subject)
                return subject
        if self._to_time and held.can(Stage.TIME):
            return self._to_time.popleft()
        if self._fresh and held.can(Stage.TRY) and not self._is_behind_with_timing():
            return self._fresh.popleft()
        return None

    def _suits(self, subject: _Subject, held: _Held) -> bool:
        if not held.can(subject.stage) or (subject.is_last_try and not held.is_empty):
            return False
        return held.place.name not in subject.failed_at or not any(
            one.place.name not in subject.failed_at and (one.place.times or subject.stage is Stage.TRY)
            for one in self._places.values()
        )

    def _is_behind_with_timing(self) -> bool:
        return len(self._to_time) >= _TO_BE_TIMED * max(1, sum(held.place.times for held in self._places.values()))
