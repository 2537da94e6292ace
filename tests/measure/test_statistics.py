"""What times come to: intervals hold the truth as often as they say, and chance is never called faster or slower."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonaudit.measure.facts import Ratio
from tritonaudit.measure.statistics import is_precise, sample, speedup

TIMES = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=50)
ROUNDS = (20, 40, 80, 160, 320)


def noisy(random: Random, milliseconds: float, noise: float) -> float:
    """A time that is disturbed by that part of it, and now and then by much more."""
    disturbed = milliseconds * random.lognormvariate(0, noise)
    return disturbed * 1.5 if random.random() < 0.02 else disturbed


def pairs(seed: int, number: int, noise: float, faster: float = 1.0) -> Iterator[Ratio]:
    """Ratios of contenders that take turns until both are precise, as they are timed; one is so many times faster.

    Times of a round drift together, and a contender's inputs lie where they are faster or slower by up to 0.4 %.
    """
    random = Random(seed)
    for _ in range(number):
        places = [random.uniform(0.998, 1.002) for _ in range(2)]
        times: tuple[list[float], list[float]] = ([], [])
        for rounds in ROUNDS:
            while len(times[0]) < rounds:
                drift = 1 + 0.02 * len(times[0]) / ROUNDS[-1]
                times[0].append(noisy(random, drift * places[0], noise))
                times[1].append(noisy(random, drift * places[1] * faster, noise))
            if all(map(is_precise, times)):
                break
        yield speedup(*times)


@pytest.mark.parametrize("noise", [0.002, 0.02, 0.1])
def test_the_interval_of_a_median_holds_the_true_one_as_often_as_it_says(noise: float) -> None:
    random = Random(1)
    samples = [sample([random.lognormvariate(0, noise) for _ in range(40)]) for _ in range(600)]
    held = sum(one.low <= 1 <= one.high for one in samples) / len(samples)
    assert 0.92 <= held <= 0.98


@pytest.mark.parametrize(("noise", "number"), [(0.002, 2000), (0.01, 500), (0.03, 100)])
def test_a_contender_against_itself_is_never_faster_or_slower(noise: float, number: int) -> None:
    called = [ratio for ratio in pairs(2, number, noise) if ratio.is_faster or ratio.is_slower]
    assert called == []


@pytest.mark.parametrize("noise", [0.002, 0.01])
def test_one_that_is_faster_by_a_twentieth_is_called_so(noise: float) -> None:
    ratios = list(pairs(3, 100, noise, faster=1.05))
    assert all(ratio.is_faster for ratio in ratios)
    assert sum(ratio.low <= 1.05 <= ratio.high for ratio in ratios) >= 97


def test_what_the_clock_cannot_resolve_is_no_difference() -> None:
    """Ticks of 32 ns in a microsecond."""
    ratio = speedup([0.001024] * 40, [0.001056] * 40)
    assert not ratio.is_faster
    assert not ratio.is_slower
    assert speedup([1.024] * 40, [1.056] * 40).is_faster


@given(TIMES)
def test_a_sample_is_in_order(times: list[float]) -> None:
    found = sample(times)
    assert found.runs == len(times)
    assert min(times) <= found.low <= found.median <= found.high <= max(times)
    assert min(times) <= found.first_quartile <= found.median <= found.third_quartile <= max(times)
    assert found == sample(times)


@given(TIMES)
def test_equal_contenders_have_the_ratio_1(times: list[float]) -> None:
    ratio = speedup(times, times)
    assert ratio.value == 1
    assert ratio.low < 1 < ratio.high


@given(TIMES, st.floats(0.1, 10))
def test_a_ratio_lies_in_its_interval_and_is_of_medians(times: list[float], factor: float) -> None:
    ratio = speedup(times, [time * factor for time in times])
    assert ratio.value == pytest.approx(factor)
    assert ratio.low < ratio.value < ratio.high
    assert ratio.is_faster is (ratio.low > 1)
    assert ratio.is_slower is (ratio.high < 1)


def test_one_time_is_its_own_median() -> None:
    found = sample([0.5])
    assert (found.low, found.median, found.high, found.spread) == (0.5, 0.5, 0.5, 0)


def test_the_spread_is_that_of_the_middle_half() -> None:
    assert sample([1.0, 2.0, 3.0, 4.0, 5.0]).spread == pytest.approx(2 / 3)
    assert sample([1.0] * 39 + [100.0]).spread == 0


def test_times_are_precise_when_more_would_tell_nothing_new() -> None:
    random = Random(4)
    wild = [random.lognormvariate(0, 0.2) for _ in range(320)]
    assert is_precise([1.0] * 20)
    assert not is_precise(wild[:20])
    assert not is_precise(wild)
    assert is_precise([time * 1e-5 for time in wild])  # below what the clock resolves
