"""Ends what takes too long, in the main thread of a process of its own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """It took longer than the time that it was given; no user's `except Exception` catches that."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took longer than {seconds:.0f} s")
        self.seconds = seconds


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what runs inside after so many seconds, as soon as Python code is reached."""

    def end(_: int, __: FrameType | None) -> None:
        raise OutOfTime(seconds)

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
