"""Ends what takes too long, in the main thread of a process of its own."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_AT_ONCE = 1e-3
_PATIENCE = 10


class OutOfTime(BaseException):
    """It took longer than the time that it was given; no user's `except Exception` catches that."""

    def __init__(self, seconds: float) -> None:
        shown = f"{seconds:.0f}" if seconds >= 0.95 else f"{seconds:.1f}"
        super().__init__(f"took longer than {shown} s")
        self.seconds = seconds


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what runs inside after so many seconds, as soon as Python code is reached.

    Within another limit, which goes on afterwards, no more is given than that has left. Where Python drops
    what is raised, as in a finalizer or a callback of the garbage collector, it is raised again after it.
    """
    with _limit(signal.ITIMER_REAL, signal.SIGALRM, time.monotonic, seconds, seconds):
        yield


@contextmanager
def computing_limit(seconds: float) -> Iterator[None]:
    """Like `time_limit`, in seconds that this process computes: a machine that is busy with others takes none of them.

    What waits rather than computes is ended after ten times as many on the clock.
    """
    with (
        _limit(signal.ITIMER_REAL, signal.SIGALRM, time.monotonic, _PATIENCE * seconds, seconds),
        _limit(signal.ITIMER_PROF, signal.SIGPROF, time.process_time, seconds, seconds),
    ):
        yield


@contextmanager
def _limit(timer: int, number: signal.Signals, clock: Callable[[], float], after: float, told: float) -> Iterator[None]:
    """Raise OutOfTime, which tells of so many seconds, when a timer says that they are over."""

    def end(_: int, __: FrameType | None) -> None:
        raise OutOfTime(told)

    def dropped(what: UnraisableHookArgs) -> None:
        if isinstance(what.exc_value, OutOfTime):
            signal.setitimer(timer, _AT_ONCE)
        else:
            hook(what)

    hook, sys.unraisablehook = sys.unraisablehook, dropped
    left, _ = signal.getitimer(timer)
    began = clock()
    before = signal.signal(number, end)
    signal.setitimer(timer, min(after, left) if left else after)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
        sys.unraisablehook = hook
        if left:
            signal.setitimer(timer, max(left - (clock() - began), _AT_ONCE))
