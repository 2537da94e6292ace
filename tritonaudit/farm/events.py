"""What places tell who drives them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tritonaudit.farm.job import Answer, Job
from tritonaudit.farm.scheduler import Place


class FarmError(Exception):
    """Nothing can be audited: there is no place that works, or none that could go on."""


@dataclass(frozen=True)
class Joined:
    """A place is there."""

    place: Place


@dataclass(frozen=True)
class Left:
    """The place of that name is gone, and all that it was doing."""

    name: str


@dataclass(frozen=True)
class Answered:
    """A job has been answered."""

    answer: Answer


Event = Joined | Left | Answered


class Places(Protocol):
    """Where jobs are done."""

    def start(self, place: str, job: Job) -> None:
        """Give a job to a place."""

    def events(self, seconds: float | None = None) -> Iterator[Event]:
        """What has happened, once something has; nothing where the seconds pass before. Raises FarmError."""

    def close(self) -> None:
        """End them all, and what they do."""
