"""Work spread over processes: each item has its result, and one that kills its process costs itself."""

from __future__ import annotations

import os
import time
from multiprocessing import active_children

import pytest

from tritonaudit.pool import spread

_offset = 0


def start(offset: int) -> None:
    """Prepares a process."""
    global _offset
    _offset = offset


def work(number: int) -> int:
    """Adds what the process was prepared with; 13 and its multiples end the process."""
    if number and number % 13 == 0:
        os._exit(9)
    return number + _offset


def wait(number: int) -> int:
    """Takes for ever, but for the first."""
    if number:
        time.sleep(3600)
    return number


def fail(number: int) -> int:
    """Raises."""
    raise ValueError(number)


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 12])
def test_every_item_has_its_result_once(workers: int, count: int) -> None:
    items = list(range(count))
    assert sorted(spread(work, items, workers, start, (100,))) == [(number, number + 100) for number in items]


@pytest.mark.parametrize(("items", "lost"), [(range(30), {13, 26}), ([13], {13}), ([13, 26], {13, 26})])
def test_an_item_that_kills_its_process_costs_itself(items: list[int], lost: set[int]) -> None:
    found = list(spread(work, list(items), 2, start, (1,)))
    assert sorted(item for item, _ in found) == list(items)
    assert {item for item, result in found if result is None} == lost
    assert all(result == item + 1 for item, result in found if item not in lost)


def test_an_item_that_raises_is_not_swallowed() -> None:
    with pytest.raises(ValueError, match="7"):
        list(spread(fail, [7], 1, start, (0,)))


def test_who_asks_for_no_more_leaves_no_process_behind() -> None:
    before = set(active_children())
    results = spread(wait, list(range(16)), 2, start, (0,))  # a chunk each
    began = time.monotonic()
    assert next(results) == (0, 0)
    results.close()
    assert time.monotonic() - began < 10
    assert set(active_children()) == before
