"""How long a case may take, and what is known of one that takes longer."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil, prod
from pathlib import Path
from types import FrameType

from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.execute.blame import Account
from tritonaudit.execute.processes import seconds_of_children
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import CaseOutcome, Sighting

MOST_SECONDS = 20.0
LEAST_SECONDS = 5.0
"""However little of a subject's time is left: what takes less is slow, and no more."""
GRACE_SECONDS = 5.0
"""From the time when a case is to end by itself to its process being killed."""
_PATIENCE = 3
"""So many times longer a case may take where the machine has little time for it."""
_COUNTED_BY_TICKS = 1.1
"""The limit of a processor's time goes by ticks, which on a busy machine count more than a process has had."""
_WAITING = 0.05
"""The share of a processor up to which a case does no more than wait."""
_SLOWER, _SLOWER_WITH_OTHERS = 10, 100
"""So many times longer than a case that is as much work, with the same fill or another: then it hangs.

Numbers that are denormal take a processor far longer than others.
"""
_SLOWER_THAN_REFERENCE = 100
"""So many times longer than the reference on the same inputs: then it hangs, too."""
_LOOKS = 0.5
"""Seconds from one look at what is going on to the next."""
LAUNCHING = ("capture/record.py", "suites/on_gpu.py")
"""Files of ours through which each launch goes."""
COMPILER = f"{os.sep}triton{os.sep}compiler{os.sep}"
_LAUNCHING = tuple(f"tritonaudit/{name}" for name in LAUNCHING)


class Late(OutOfTime):
    """A case was given so many seconds: it `waits`, or `computes` for longer, or the machine had no time for it.

    Where that was in another process, `account` says at which place. What programs compute that it has started counts.
    It was `in_host` code for most of the time, and not in launches or a compiler.
    """

    def __init__(
        self, seconds: float, *, waits: bool, computes: bool, in_host: bool = False, account: Account | None = None
    ) -> None:
        super().__init__(seconds)
        self.waits = waits
        self.computes = computes
        self.in_host = in_host
        self.account = account


def case_seconds(left: float) -> float:
    """What a case may take when so much of its subject's time is left."""
    return min(MOST_SECONDS, max(LEAST_SECONDS, left))


def computed(of_children: float | None = None) -> float:
    """Seconds for which this process and those that it has started have computed: a compiler may be one of these."""
    return time.process_time() + (seconds_of_children() if of_children is None else of_children)


def longest(seconds: float) -> float:
    """How long a case that may take so many seconds can last before its process is killed."""
    return _PATIENCE * seconds + GRACE_SECONDS


@dataclass
class Patience:
    """What is left of it: so many seconds to compute, so many to do nothing but wait."""

    seconds: float
    waiting: float
    _began: float = field(default_factory=time.monotonic)
    _cpu: float = field(default_factory=lambda: computed())
    _queued: float = field(default_factory=lambda: _queued())
    _elsewhere: float = 0.0
    _of_children: float | None = field(default=None, init=False)
    _looks: int = field(default=0, init=False)
    _in_launches: int = field(default=0, init=False)

    def look(self, _: int, frame: FrameType | None) -> None:
        """Raise Late if none is left."""
        self._looks += 1
        self._in_launches += _is_launching(frame)
        wall = time.monotonic() - self._began - self._elsewhere
        cpu = computed(self._of_children) - self._cpu
        waits = wall >= self.waiting and cpu + _queued() - self._queued < _WAITING * wall
        computes = cpu + self._elsewhere >= self.seconds
        if waits or computes or wall >= _PATIENCE * self.seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise self.late(waits=waits, computes=computes, in_host=2 * self._in_launches < self._looks)

    def late(self, *, waits: bool, computes: bool, in_host: bool, account: Account | None = None) -> Late:
        """What is raised in the end."""
        seconds = self.waiting if waits else self.seconds
        return Late(seconds, waits=waits, computes=computes, in_host=in_host, account=account)

    def start(self) -> None:
        """Have the clock strike, from when it can no longer be said that all is over soon."""
        signal.setitimer(signal.ITIMER_REAL, self.waiting / 2, _LOOKS)

    def rest(self) -> Patience:
        """All that is left, for another process to compute for this one."""
        spent = time.monotonic() - self._began
        return Patience(*(max(limit - spent, LEAST_SECONDS / 5) for limit in (self.seconds, self.waiting)))

    @contextmanager
    def beside(self) -> Iterator[None]:
        """While another process computes, which has its own patience, only what this one computes counts."""
        self._of_children = seconds_of_children()
        try:
            yield
        finally:
            before, self._of_children = self._of_children, None
            self._cpu += seconds_of_children() - before

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """While this one waits for another process, which has its own patience, no clock strikes here."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        began, computed = time.monotonic(), seconds_of_children()
        try:
            yield
        finally:
            self._elsewhere += time.monotonic() - began
            self._cpu += seconds_of_children() - computed
            self.start()


_patience: Patience | None = None


def current_patience() -> Patience:
    """That of the trial which is under way in this process."""
    return _patience or Patience(MOST_SECONDS, MOST_SECONDS)


@contextmanager
def patience(seconds: float, waiting: float | None = None) -> Iterator[None]:
    """Raise Late in what runs inside once it has computed for so many seconds, or done nothing but wait.

    To wait it has the same time unless another is given. It is raised as soon as Python code is reached; a process that
    never reaches any is killed by SIGXCPU. In the main thread alone.
    """
    global _patience
    outer, _patience = _patience, Patience(seconds, seconds if waiting is None else waiting)
    before = signal.signal(signal.SIGALRM, _patience.look)
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = ceil(time.process_time() * _COUNTED_BY_TICKS + seconds + GRACE_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    _patience.start()
    try:
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:  # the clock may strike as it is stopped
            _patience = outer
            signal.signal(signal.SIGALRM, before)
            resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _is_launching(frame: FrameType | None) -> bool:
    """Whether what goes on is part of a launch, its compilation and its end included."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(_LAUNCHING) or COMPILER in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _queued() -> float:
    """Seconds for which this thread was ready to compute while others did; 0 where the system does not tell."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def late(
    case: Case,
    others: Iterable[CaseOutcome],
    sighting: Sighting,
    error: Late,
    seconds: float,
    reference: float | None = None,
) -> CaseOutcome:
    """What a case came to that did not end within these seconds.

    It hangs, as the `sighting` says, where one that is as much work was far quicker, or where the `reference` was, of
    which as much takes so many seconds of the same device; and may where it only waits. Else nothing is known.
    """
    quick = [
        outcome
        for outcome in others
        if outcome.checked
        and outcome.seconds  # of what nobody measured it is 0
        and is_as_much_work(outcome.case, case)
        and outcome.seconds * (_SLOWER if outcome.case.fill == case.fill else _SLOWER_WITH_OTHERS) < seconds
    ]
    is_far_slower = reference is not None and reference * _SLOWER_THAN_REFERENCE < seconds
    if not error.waits and not (error.computes and (quick or is_far_slower)):
        return replace(unknown(case, sighting.text), is_late=True)
    if quick:
        than = f", and {quick[-1].case.label} took {quick[-1].seconds:.1f} s"
    else:
        than = f", and the reference takes {reference:.2g} s" if is_far_slower else ", and only waits"
    is_certain = bool(quick) or is_far_slower
    hang = Sighting(Symptom.HANG, sighting.kernel, sighting.place, f"{sighting.text}{than}", is_certain)
    return CaseOutcome(case, frozenset((Symptom.HANG,)), (hang,), seconds=seconds)


def unknown(case: Case, reason: str) -> CaseOutcome:
    """A case of which nothing is known."""
    return CaseOutcome(case, frozenset(), unchecked=tuple((symptom, reason) for symptom in Symptom))


def is_as_much_work(case: Case, other: Case) -> bool:
    """Whether it has as many elements, and the longest dimension, which a program may go through, is as long."""
    if case.sizes.keys() != other.sizes.keys():  # what they do not name is as given
        return False
    longest = max(other.sizes, key=lambda name: other.sizes[name], default=None)
    return elements(case) >= elements(other) and (longest is None or case.sizes[longest] >= other.sizes[longest])


def elements(case: Case) -> int:
    """About how many elements its tensors have, by which work grows; 1 where its inputs are as given."""
    return prod(max(size, 1) for size in case.sizes.values())
