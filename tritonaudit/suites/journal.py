"""What an audit of a subject has come to so far, on disk: a worker that is killed loses only what it was doing."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.execute.messages import framed, take_message
from tritonaudit.subject.model import Case
from tritonaudit.suites.outcome import CaseOutcome


@dataclass(frozen=True)
class Trial:
    """One thing to try: a check by its name, on the case of that label."""

    check: str
    case: str


@dataclass(frozen=True)
class Begun:
    """A trial is under way."""

    trial: Trial
    case: Case


@dataclass(frozen=True)
class Ended:
    """A trial came to its outcome."""

    trial: Trial
    outcome: CaseOutcome


@dataclass(frozen=True)
class Stopped:
    """Nothing more is tried; `left_out` says of what, in a report's words, and why."""

    left_out: tuple[tuple[str, str], ...] = ()


Entry = Begun | Ended | Stopped


class Journal:
    """The entries of one subject, oldest first, in a file; what a crash left half written is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, entry: Entry) -> None:
        """Write an entry, so that it outlives this process."""
        with open(self._path, "ab") as file:
            file.write(framed(pickle.dumps(entry)))

    def read(self) -> Record:
        """All that is known."""
        return Record(tuple(self._entries()))

    def _entries(self) -> Iterator[Entry]:
        try:
            data = bytearray(self._path.read_bytes())
        except FileNotFoundError:
            return
        while (message := take_message(data)) is not None:
            yield pickle.loads(message)

    def mend(self) -> None:
        """Drop an entry that was left half written, so that more can follow."""
        if self._path.exists():
            data = bytearray(self._path.read_bytes())
            size = len(data)
            while take_message(data) is not None:
                pass
            os.truncate(self._path, size - len(data))

    def clear(self) -> None:
        """Begin anew."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(b"")


@dataclass(frozen=True)
class Record:
    """The entries of a journal, read."""

    entries: tuple[Entry, ...]

    @property
    def ended(self) -> tuple[Ended, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Ended))

    @property
    def tried(self) -> frozenset[Trial]:
        """What was begun, whether it ended or not."""
        return frozenset(entry.trial for entry in self.entries if isinstance(entry, Begun))

    @property
    def under_way(self) -> Begun | None:
        """What was begun last and did not end."""
        last = self.entries[-1] if self.entries else None
        return last if isinstance(last, Begun) else None

    @property
    def stopped(self) -> Stopped | None:
        """What the worker said in the end; None while it has not."""
        return next((entry for entry in reversed(self.entries) if isinstance(entry, Stopped)), None)
