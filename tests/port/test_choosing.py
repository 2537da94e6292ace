"""Which of the right variants is chosen: a gain counts beyond the intervals alone, and ties go to the earlier one."""

from __future__ import annotations

import pytest

from tritonaudit.port.choosing import chosen_by_resources, chosen_by_time
from tritonaudit.port.costs import Resources, SizeTime, Times


def times(final: float, uncertainty: float = 0.01, sizes: tuple[str, ...] = ("small", "medium", "large")) -> Times:
    """Times whose mean is this, each known to such a part of it."""
    low, high = final * (1 - uncertainty), final * (1 + uncertainty)
    return Times(tuple(SizeTime(size, f"n={size}", final, low, high, 2 * final) for size in sizes))


@pytest.mark.parametrize(
    ("timed", "name"),
    [
        ([("v1", times(2.0)), ("v2", times(1.0)), ("v3", times(1.5))], "v2"),
        ([("v1", times(1.0)), ("v2", times(1.0))], "v1"),
        ([("v1", times(1.01)), ("v2", times(1.0))], "v1"),
        ([("v1", times(1.05)), ("v2", times(1.0))], "v2"),
        ([("v1", times(1.2, 0.2)), ("v2", times(1.0, 0.01))], "v1"),
        ([("v1", times(3.0)), ("v2", times(1.01)), ("v3", times(1.0))], "v2"),
        ([("v1", times(1.0))], "v1"),
    ],
)
def test_the_fastest_or_the_earliest_that_is_unknown_from_it(timed: list[tuple[str, Times]], name: str) -> None:
    assert chosen_by_time(timed).name == name


def test_the_reason_says_that_a_faster_one_is_within_the_interval() -> None:
    choice = chosen_by_time([("v1", times(1.01)), ("v2", times(1.0))])
    assert "cannot be distinguished from the lowest, that of v2: 1 ms" in choice.reasons[0]


def test_what_lacks_a_size_is_not_compared() -> None:
    broken = Times(times(0.1, sizes=("small",)).sizes, (("large", "it does not fit into the GPU's memory"),))
    choice = chosen_by_time([("v1", broken), ("v2", times(1.0))])
    assert choice.name == "v2"
    assert choice.reasons[1] == "not compared, since it was not timed at the same sizes: v1"


def test_what_was_timed_at_other_sizes_is_not_compared() -> None:
    choice = chosen_by_time([("v1", times(0.1, sizes=("small",))), ("v2", times(1.0))])
    assert (choice.name, "v1" in choice.reasons[1]) == ("v2", True)


def test_without_any_times_nothing_is_chosen() -> None:
    assert chosen_by_time([("v1", Times((), (("small", "it failed"),)))]).name is None
    assert chosen_by_time([]).name is None


def test_final_and_speedup_are_of_the_means() -> None:
    sizes = (SizeTime("small", "a", 1.0, 0.9, 1.1, 4.0), SizeTime("large", "b", 3.0, 2.9, 3.1, 8.0))
    found = Times(sizes)
    assert (found.final, found.low, found.high, found.speedup) == (2.0, 1.9, 2.1, 3.0)
    assert Times((*sizes, SizeTime("medium", "c", 1.0, 1.0, 1.0))).speedup is None


PLAIN = Resources(0, 0, 1.0, 32)


@pytest.mark.parametrize(
    ("first", "second", "name", "reason"),
    [
        (PLAIN, PLAIN, "v1", "of equals the earliest"),
        (Resources(8, 0, 1.0, 32), PLAIN, "v2", "it spills less"),
        (Resources(0, 2, 1.0, 32), PLAIN, "v2", "fewer of its accesses are narrower"),
        (Resources(0, 0, 0.5, 32), PLAIN, "v2", "more of its warps fit"),
        (Resources(0, 0, 1.0, 40), Resources(0, 0, 1.0, 16), "v1", "of equals the earliest"),
        (Resources(None, 0, 1.0, 32), Resources(512, 3, 0.1, 255), "v2", "it spills less"),
    ],
)
def test_without_a_gpu_spilling_counts_before_narrow_accesses_before_occupancy(
    first: Resources, second: Resources, name: str, reason: str
) -> None:
    choice = chosen_by_resources([("v1", first), ("v2", second)], "sm_90")
    assert choice.name == name
    assert "only on correctness and on what the compiler makes of each kernel for sm_90, and" in choice.reasons[0]
    assert reason in choice.reasons[1]


def test_where_nothing_compiles_nothing_is_chosen() -> None:
    assert chosen_by_resources([], "gfx942").name is None
