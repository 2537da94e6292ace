"""Whether what is done next on a stream comes after a launch on another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tritonaudit.capture.streams import (
    Current,
    Event,
    Stream,
    calling,
    current,
    host_reads,
    is_awaited,
    launched,
    make_current,
    synchronize,
)


def awaited(after: Callable[[Stream], object], *, before: Callable[[Stream], object] = lambda _: None) -> bool:
    """Whether the caller's stream waits for a launch on a side stream, with what is done before and after that."""
    side = Stream()
    with calling() as caller:
        before(side)
        with Current(side):
            ticket = launched()
        after(side)
        return is_awaited(ticket, caller)


def in_between(side: Stream) -> None:
    other, event = Stream(), side.record_event()
    other.wait_event(event)
    current().wait_stream(other)


def by_event(side: Stream) -> None:
    event = Event()
    event.record(side)
    event.wait()


def read_there(side: Stream) -> None:
    with Current(side):
        host_reads()


@pytest.mark.parametrize(
    "wait",
    [
        lambda side: current().wait_stream(side),
        lambda side: current().wait_event(side.record_event()),
        by_event,
        in_between,
        lambda side: side.synchronize(),
        lambda side: side.record_event().synchronize(),
        lambda side: side.query(),
        lambda _: synchronize(),
        read_there,
    ],
    ids=["stream", "event", "event waits", "in between", "stream ends", "event ends", "polled", "device", "read there"],
)
def test_there_are_many_ways_to_wait(wait: Callable[[Stream], object]) -> None:
    assert awaited(wait)


@pytest.mark.parametrize(
    "something_else",
    [
        lambda _: None,
        lambda side: side.wait_stream(current()),
        lambda _: current().wait_stream(Stream()),
        lambda _: host_reads(),
        lambda _: launched(),
        lambda side: side.record_event(),
        lambda _: Stream().synchronize(),
    ],
    ids=["nothing", "the side waits", "for another", "read here", "launched here", "only recorded", "another ends"],
)
def test_all_else_is_no_waiting(something_else: Callable[[Stream], object]) -> None:
    assert not awaited(something_else)


def test_to_have_waited_before_the_launch_does_not_count() -> None:
    event = Event()
    assert not awaited(lambda _: event.wait(), before=event.record)
    assert not awaited(lambda _: None, before=lambda side: current().wait_stream(side))


def test_what_is_launched_on_the_callers_stream_comes_first_there() -> None:
    with calling() as caller, Current(None):
        assert is_awaited(launched(), caller)


def test_a_stream_is_current_inside_and_a_call_leaves_it_as_it_was() -> None:
    one, other = Stream(), Stream()
    with calling() as caller:
        with one, Current(other):
            assert current() is other
        assert current() is caller
        make_current(one)
    assert current() is caller
    assert len({one.cuda_stream, other.cuda_stream, caller.cuda_stream}) == 3
