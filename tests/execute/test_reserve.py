"""Workers that are kept from one call to the next: those that are whole, prepared alike, and not spoilt."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.execute import tasks
from tests.execute.test_pool import LIMITS, all_end, is_alive, wait_until
from tritonaudit.execute import confine
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.execute.reserve import Reserve

PROCESS = ("process",)


@pytest.fixture
def reserve() -> Iterator[Reserve]:
    made = Reserve(2)
    yield made
    made.close()


def alike(_: object) -> str:
    return "alike"


def done(reserve: Reserve | None, *items: tuple[Any, ...], limits: Limits = LIMITS, **options: Any) -> list[Any]:
    return [
        found
        for _, found in run_tasks(
            tasks.call, items, workers=1, limits=limits, reserve=reserve, **{"kin": alike, **options}
        )
    ]


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


def test_it_goes_on_with_what_is_akin_to_all_that_it_has_done(reserve: Reserve) -> None:
    (first,) = done(reserve, PROCESS, kin=lambda _: "one")
    (second,) = done(reserve, PROCESS, kin=lambda _: "other")
    assert first != second
    assert done(reserve, PROCESS, kin=lambda _: "one") == [first]


@pytest.mark.parametrize("kin", [lambda _: "", lambda item: item[0]])
def test_one_that_has_done_what_is_not_akin_is_not_kept(reserve: Reserve, kin: Callable[[Any], str]) -> None:
    process, _ = done(reserve, PROCESS, ("same", "thing"), kin=kin)
    assert all_end([process])


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


def test_what_a_task_left_in_its_folder_is_removed_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch, other = tmp_path / "scratch", tmp_path / "other"
    monkeypatch.setattr(confine, "_scratch", scratch)
    for folder in (scratch / "one" / "two", other):
        folder.mkdir(parents=True)
        (folder / "file").write_text("text")
    (scratch / "link").symlink_to(other)
    assert confine.emptied_scratch()
    assert (list(scratch.iterdir()), (other / "file").read_text()) == ([], "text")
    scratch.rmdir()
    assert not confine.emptied_scratch()
