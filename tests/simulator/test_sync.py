"""Which programs atomics put in order, and what knowing that takes."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("torch", reason="torch holds the values")

import torch

from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.sync import ByPlace, Clocks, clocks_of, ordering

BOTH, RELEASE, ACQUIRE = (ordering(sem, "gpu") for sem in ("acq_rel", "release", "acquire"))


def programs(*numbers: int) -> Programs:
    return Programs((100, 1, 1), torch.tensor(numbers))


def sees(clocks: Clocks, clock: torch.Tensor, writer: int, reader: int) -> bool:
    """Whether the reader comes after what the writer did at that clock of its own."""
    (found,) = clocks.orders(torch.tensor([writer]), clock, programs(reader)).tolist()
    return bool(found)


def test_who_acquires_after_a_release_sees_what_was_written_before_it() -> None:
    clocks = Clocks(100, True)
    before = clocks.of(programs(3))
    clocks.tick(programs(5), ACQUIRE)
    clocks.tick(programs(3), RELEASE)
    after = clocks.of(programs(3))
    assert not sees(clocks, before, 3, 5), "it acquired too early"
    clocks.tick(programs(5), ACQUIRE)
    assert sees(clocks, before, 3, 5)
    assert not sees(clocks, after, 3, 5), "that is not released yet"
    assert not sees(clocks, before, 3, 7), "it has acquired nothing"
    assert not sees(clocks, before, 4, 5), "who wrote has released nothing"


@pytest.mark.parametrize("more", [1, 10, 15, 16, 40, 1000])
def test_later_releases_hide_no_write_that_is_not_released(more: int) -> None:
    clocks = Clocks(100, True)
    first = clocks.of(programs(3))
    for _ in range(more):
        clocks.tick(programs(3), RELEASE)
    clocks.tick(programs(5), ACQUIRE)
    clocks.tick(programs(3), RELEASE)
    last = clocks.of(programs(3)) - 1
    assert sees(clocks, first, 3, 5)
    assert sees(clocks, last - 1, 3, 5)
    assert not sees(clocks, last, 3, 5)
    assert not sees(clocks, first, 3, 7)


@pytest.mark.parametrize("more", [0, 5, 14])
def test_an_early_acquire_is_reported_from_later_releases(more: int) -> None:
    clocks = Clocks(100, True)
    clocks.tick(programs(5), ACQUIRE)
    first = clocks.of(programs(3))
    for _ in range(1 + more):
        clocks.tick(programs(3), RELEASE)
    assert not sees(clocks, first, 3, 5)


def test_programs_that_released_differently_often_are_distinguished() -> None:
    clocks = Clocks(100, True)
    first = clocks.of(programs(1, 2))
    for _ in range(20):
        clocks.tick(programs(1), RELEASE)
    clocks.tick(programs(5), ACQUIRE)
    clocks.tick(programs(1, 2), RELEASE)
    assert clocks.of(programs(1, 2)).tolist() == [21, 1]
    others = torch.tensor([1, 2])
    assert clocks.orders(others, first, programs(5)).tolist() == [True, False]


def test_many_atomics_take_no_more_memory() -> None:
    clocks = Clocks(100, True)
    sizes = []
    for _ in range(2):
        for _ in range(200):
            clocks.tick(programs(*range(100)), BOTH)
        sizes.append(len(pickle.dumps(clocks)))
    assert sizes[1] < 1.01 * sizes[0]


# -- few programs, distinguished by where their atomics are ------------------------------------------------------------


def test_who_acquires_elsewhere_sees_nothing() -> None:
    clocks = ByPlace(100, True)
    before = clocks.of(programs(3)).clone()
    clocks.tick(programs(3), BOTH, ["a lock"])
    clocks.tick(programs(5), BOTH, ["another"])
    assert not sees(clocks, before, 3, 5)
    clocks.tick(programs(5), BOTH, ["a lock"])
    assert sees(clocks, before, 3, 5)


def test_what_is_seen_is_passed_on() -> None:
    clocks = ByPlace(100, True)
    before = clocks.of(programs(3)).clone()
    clocks.tick(programs(3), RELEASE, ["first"])
    clocks.tick(programs(4), ACQUIRE, ["first"])
    clocks.tick(programs(4), RELEASE, ["second"])
    clocks.tick(programs(5), ACQUIRE, ["second"])
    assert sees(clocks, before, 3, 5)
    assert not sees(clocks, clocks.of(programs(3)), 3, 5)


def test_an_atomic_at_several_places_is_at_all_of_them() -> None:
    for first, second in ((None, ["a lock"]), (["a lock"], None), (None, None)):
        clocks = ByPlace(100, True)
        before = clocks.of(programs(3)).clone()
        clocks.tick(programs(3), RELEASE, first)
        clocks.tick(programs(5), ACQUIRE, second)
        assert sees(clocks, before, 3, 5)


def test_of_reads_and_of_several_it_is_enough_that_something_is_seen() -> None:
    clocks = ByPlace(100, True)
    clocks.tick(programs(3), RELEASE, ["a lock"])
    others = torch.tensor([3, 4, -2])
    assert clocks.orders(others, None, programs(5, 5, 5)).tolist() == [False, False, False]
    clocks.tick(programs(5), ACQUIRE, ["a lock"])
    assert clocks.orders(others, None, programs(5, 5, 5)).tolist() == [True, False, True]


def test_launches_of_many_programs_know_less() -> None:
    assert type(clocks_of(256, is_kept=True)) is ByPlace
    assert type(clocks_of(257, is_kept=True)) is Clocks
