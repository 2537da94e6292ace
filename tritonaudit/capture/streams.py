"""Streams in the place of a GPU's: nothing is ever left to do on them, but which work comes before which is known.

As in a vector clock (Fidge 1988; Mattern 1989), a stream knows of each other one how many launches there come before
whatever is done next on it. Imports nothing of torch.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_Clock = dict[int, int]
_numbers = itertools.count()


def _merge(clock: _Clock, other: _Clock) -> None:
    for number, count in other.items():
        clock[number] = max(clock.get(number, 0), count)


@dataclass(frozen=True)
class Ticket:
    """A launch: on which stream, and the how manieth there."""

    stream: int
    count: int

    def is_in(self, clock: _Clock) -> bool:
        return clock.get(self.stream, 0) >= self.count


class Stream(contextlib.ContextDecorator):
    """A stream on which nothing is ever left to do."""

    device: Any = None

    def __init__(self, *_: Any, **__: Any) -> None:
        self.cuda_stream = next(_numbers)
        self.clock: _Clock = {}
        self._before: list[Stream] = []

    def __enter__(self) -> Stream:
        self._before.append(current())
        make_current(self)
        return self

    def __exit__(self, *_: object) -> None:
        make_current(self._before.pop())

    def query(self) -> bool:
        self.synchronize()
        return True

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def synchronize(self) -> None:
        """The host waits, and all that it does later comes after that."""
        _merge(_host, self.clock)

    def wait_event(self, event: Event) -> None:
        _merge(self.clock, event.clock)

    def wait_stream(self, stream: Stream) -> None:
        _merge(self.clock, stream.clock)


class Event:
    """An event that has happened; a millisecond lies between any two."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.clock: _Clock = {}

    def query(self) -> bool:
        self.synchronize()
        return True

    def elapsed_time(self, end_event: Event) -> float:
        return 1.0

    def record(self, stream: Stream | None = None) -> None:
        self.clock = dict((stream or current()).clock)

    def synchronize(self) -> None:
        _merge(_host, self.clock)

    def wait(self, stream: Stream | None = None) -> None:
        (stream or current()).wait_event(self)


class Current(contextlib.ContextDecorator):
    """`with torch.cuda.stream(…)`: what is launched inside goes to that stream; to the current one where it is None."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if isinstance(self.stream, Stream):
            self.stream.__enter__()

    def __exit__(self, *_: object) -> None:
        if isinstance(self.stream, Stream):
            self.stream.__exit__()


DEFAULT = Stream()
_host: _Clock = {}
"""What the host has waited for."""
_all: _Clock = {}
_of_thread = threading.local()


def current(*_: Any) -> Stream:
    """That of this thread."""
    found: Stream = getattr(_of_thread, "current", DEFAULT)
    return found


def make_current(stream: Stream) -> None:
    """What this thread launches goes to that stream from now on."""
    _of_thread.current = stream


def launched() -> Ticket:
    """Note a launch on the current stream."""
    stream = current()
    ticket = Ticket(stream.cuda_stream, _all.get(stream.cuda_stream, 0) + 1)
    _merge(stream.clock, {**_host, ticket.stream: ticket.count})
    _all[ticket.stream] = ticket.count
    return ticket


def synchronize(*_: Any) -> None:
    """The host waits for all streams."""
    _merge(_host, _all)


def host_reads() -> None:
    """The host waits for what it reads on the current stream."""
    current().synchronize()


def is_awaited(ticket: Ticket, stream: Stream) -> bool:
    """Whether what is done next on that stream comes after the launch."""
    return ticket.is_in(stream.clock) or ticket.is_in(_host)


@contextlib.contextmanager
def calling() -> Iterator[Stream]:
    """The stream on which something is called; it is the current one again afterwards, whatever the call has done."""
    before = current()
    try:
        yield before
    finally:
        make_current(before)
