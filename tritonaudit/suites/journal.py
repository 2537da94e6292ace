"""What an audit of a subject has come to so far, in memory and on disk, so that one which is killed can go on."""

from __future__ import annotations

import fcntl
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tritonaudit.data import NotData, decode, encode
from tritonaudit.execute.messages import framed, take_message
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.opinion import Opinion
from tritonaudit.suites.outcome import CaseOutcome, Sighting, SightingKey, Simplest

REST = "the rest"
"""What a subject that came to no end leaves out."""
_CHECKSUM_BYTES = 4


@dataclass(frozen=True)
class Trial:
    """One thing to try: a check by its name, on the case of that label."""

    check: str
    case: str


@dataclass(frozen=True)
class CoreTrial:
    """One thing without which a suite cannot pass: `what` it is in a report's words, and the trial that does it.

    It is done once the trial looked for the symptoms, and not by its being refused where it `decides`.
    """

    suite: str
    what: str
    trial: Trial
    symptoms: frozenset[Symptom]
    decides: bool = False


@dataclass(frozen=True)
class Expected:
    """Before anything is tried: about so many trials are the core, which take about so many seconds.

    The `seed` draws what nobody can foresee.
    """

    trials: int
    seconds: float
    seed: int = 0
    spent: float = 0.0


@dataclass(frozen=True)
class Planned:
    """What is to be tried: first the core, then as far as time allows the cases of these labels.

    Suites that do not apply to the subject are `inapplicable`, each with the reason.
    """

    core: tuple[CoreTrial, ...]
    cases: tuple[str, ...]
    spent: float = 0.0
    inapplicable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Begun:
    """A trial is under way. `spent` of it and of the others: seconds of the subject's time by now."""

    trial: Trial
    case: Case
    spent: float = 0.0


@dataclass(frozen=True)
class Ended:
    """A trial came to its outcome."""

    trial: Trial
    outcome: CaseOutcome
    spent: float = 0.0


@dataclass(frozen=True)
class Simplified:
    """What a trial saw is seen in this case, too, which is as simple as the time allowed."""

    trial: Trial
    seen: SightingKey
    simplest: Simplest
    spent: float = 0.0


@dataclass(frozen=True)
class Opined:
    """The interpreter was asked for a second opinion on a case."""

    opinion: Opinion
    spent: float = 0.0


@dataclass(frozen=True)
class CoreTried:
    """The core has been tried, as far as it could be."""

    spent: float = 0.0


@dataclass(frozen=True)
class Stopped:
    """Nothing more is tried; `left_out` says of what, in a report's words, and why; `why` why there is an end."""

    left_out: tuple[tuple[str, str], ...] = ()
    spent: float = 0.0
    why: str = ""


Entry = Expected | Planned | Begun | Ended | Simplified | CoreTried | Opined | Stopped


class Journal:
    """The entries of one subject, oldest first.

    They are kept in the file too, where it can be written and no other process has it. With `resumes` those that are
    there already come first; a file that is damaged, but for an entry left half written in the end, starts over, and so
    does one of another `seed` than is asked for.
    """

    def __init__(self, path: Path | None = None, *, resumes: bool = False, seed: int | None = None) -> None:
        self._file = _taken(path) if path is not None else None
        self._entries = list(self._kept()) if resumes and self._file is not None else []
        if seed is not None and self.read().seed not in (None, seed):
            self._entries.clear()
        if self._file is not None and not self._entries:
            self._empty()

    def add(self, entry: Entry) -> None:
        """Note an entry, so that it outlives this process as far as the disk can hold it."""
        self._entries.append(entry)
        if self._file is not None:
            try:
                _write_all(self._file, framed(_sealed(encode(entry))))
            except OSError:
                self.close()

    def read(self) -> Record:
        """All that is known."""
        return Record(tuple(self._entries))

    def close(self) -> None:
        """Leave the file to others."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _kept(self) -> Iterator[Entry]:
        assert self._file is not None
        data = bytearray(_read_all(self._file))
        whole = len(data)
        entries: list[Entry] = []
        try:
            while (message := take_message(data)) is not None:
                entries.append(_opened(message))
        except NotData:
            return
        with suppress(OSError):
            os.truncate(self._file, whole - len(data))
        yield from entries

    def _empty(self) -> None:
        assert self._file is not None
        try:
            os.truncate(self._file, 0)
        except OSError:
            self.close()


def _taken(path: Path) -> int | None:
    """The file, opened for this process alone; None where it cannot be had."""
    file = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except OSError:
        if file is not None:
            os.close(file)
        return None


def _sealed(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "big") + data


def _opened(message: bytes) -> Entry:
    data = message[_CHECKSUM_BYTES:]
    if _sealed(data) != message:
        raise NotData("its checksum differs")
    entry: Entry = decode(Entry, data)
    return entry


def _read_all(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


@dataclass(frozen=True)
class Record:
    """The entries of a journal, read."""

    entries: tuple[Entry, ...] = ()

    @cached_property
    def ended(self) -> tuple[Ended, ...]:
        """What came to an outcome, each sighting with the simplest case that was found for it."""
        simplest = {
            (entry.trial, entry.seen): entry.simplest for entry in self.entries if isinstance(entry, Simplified)
        }
        return tuple(_with(simplest, entry) for entry in self.entries if isinstance(entry, Ended))

    @property
    def seed(self) -> int | None:
        """What draws the cases that nobody can foresee; None before that is known."""
        return next((entry.seed for entry in self.entries if isinstance(entry, Expected)), None)

    @property
    def outcomes(self) -> dict[Trial, CaseOutcome]:
        """What trials came to."""
        return {entry.trial: entry.outcome for entry in self.ended}

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """What the interpreter said."""
        return tuple(entry.opinion for entry in self.entries if isinstance(entry, Opined))

    @property
    def broken_off(self) -> Counter[Trial]:
        """How often a trial was begun that never ended."""
        begun = Counter(entry.trial for entry in self.entries if isinstance(entry, Begun))
        begun.subtract(entry.trial for entry in self.ended)
        return +begun

    @property
    def planned(self) -> Planned | None:
        """What was to be tried, as it was last known; None before it was known."""
        return next((entry for entry in reversed(self.entries) if isinstance(entry, Planned)), None)

    @property
    def under_way(self) -> Begun | None:
        """What was begun last, if nothing came after it."""
        last = self.entries[-1] if self.entries else None
        return last if isinstance(last, Begun) else None

    @property
    def is_core_tried(self) -> bool:
        """Whether all of the core that can be tried has been."""
        return any(isinstance(entry, CoreTried) for entry in self.entries)

    @property
    def stopped(self) -> Stopped | None:
        """What the worker said in the end; None while it has not."""
        return next((entry for entry in reversed(self.entries) if isinstance(entry, Stopped)), None)

    @property
    def spent(self) -> float:
        """Seconds of the subject's time."""
        return self.entries[-1].spent if self.entries else 0.0


def _with(simplest: Mapping[tuple[Trial, SightingKey], Simplest], entry: Ended) -> Ended:
    sightings: tuple[Sighting, ...] = tuple(
        replace(one, simplest=simplest.get((entry.trial, one.key), one.simplest)) for one in entry.outcome.sightings
    )
    return replace(entry, outcome=replace(entry.outcome, sightings=sightings))
