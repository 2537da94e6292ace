"""Ends what takes too long, in the main thread of a process of its own."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AT_ONCE = 1e-3


class OutOfTime(BaseException):
    """It took longer than the time that it was given; no user's `except Exception` catches that."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took longer than {seconds:.0f} s")
        self.seconds = seconds


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what runs inside after so many seconds, as soon as Python code is reached.

    Within another limit, which goes on afterwards, no more is given than that has left.
    """

    def end(_: int, __: FrameType | None) -> None:
        raise OutOfTime(seconds)

    left, _ = signal.getitimer(signal.ITIMER_REAL)
    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, left) if left else seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), _AT_ONCE))
