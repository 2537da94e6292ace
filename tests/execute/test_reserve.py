"""Workers that are kept from one call to the next: those that are whole, prepared alike, and not spoilt."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.execute import tasks
from tests.execute.test_pool import LIMITS, all_end, is_alive, wait_until
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.execute.reserve import Reserve

PROCESS = ("process",)


@pytest.fixture
def reserve() -> Iterator[Reserve]:
    made = Reserve(2)
    yield made
    made.close()


def done(reserve: Reserve | None, *items: tuple[Any, ...], limits: Limits = LIMITS, **options: Any) -> list[Any]:
    return [found for _, found in run_tasks(tasks.call, items, workers=2, limits=limits, reserve=reserve, **options)]


def test_the_next_call_goes_on_with_the_worker_of_the_one_before(reserve: Reserve) -> None:
    assert done(reserve, PROCESS) == done(reserve, PROCESS)
    assert done(None, PROCESS) != done(reserve, PROCESS)


def test_it_is_prepared_once(reserve: Reserve) -> None:
    for _ in range(2):
        assert done(reserve, ("state",), prepare=tasks.prepare, arguments=(1,)) == [([(1,)], False)]


def test_it_does_only_what_it_is_prepared_for(reserve: Reserve) -> None:
    (plain,) = done(reserve, PROCESS)
    assert done(reserve, PROCESS, prepare=tasks.prepare, arguments=(1,)) != [plain]
    assert done(reserve, PROCESS) == [plain]


def test_it_holds_no_more_memory_than_is_asked(reserve: Reserve) -> None:
    (large,) = done(reserve, PROCESS)
    assert done(reserve, PROCESS, limits=Limits(20, 1 << 29)) != [large]


def test_one_that_an_item_spoils_is_not_kept(reserve: Reserve) -> None:
    (first,) = done(reserve, PROCESS, spoils=lambda _: True)
    assert all_end([first])
    assert done(reserve, PROCESS) != [first]


def test_one_that_has_done_its_last_is_not_kept(reserve: Reserve) -> None:
    (first,) = done(reserve, ("start_thread",))
    assert done(reserve, PROCESS) != [first]


def test_one_that_dies_meanwhile_is_not_missed(reserve: Reserve) -> None:
    (first,) = done(reserve, PROCESS)
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(first))
    (second,) = done(reserve, PROCESS)
    assert not isinstance(second, Killed)
    assert second != first


def test_so_many_are_kept_those_that_worked_last(reserve: Reserve) -> None:
    found = [done(reserve, PROCESS, prepare=tasks.prepare, arguments=(number,))[0] for number in range(3)]
    assert all_end(found[:1])
    assert all(map(is_alive, found[1:]))
    reserve.close()
    assert all_end(found)
