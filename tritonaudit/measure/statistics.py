"""What times come to: medians with bootstrap intervals, and ratios of contenders that took turns. Pure Python."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from random import Random

from tritonaudit.measure.facts import Ratio, Sample

_DRAWS = 200
_TAIL, _DEVIATIONS = 0.025, 1.96
"""On each side of a 95 % interval, and how many standard deviations that is."""
_PRECISION = 0.005
"""Half the interval over the median, below which more runs would tell nothing new: nvbench's stopping rule."""
_BETWEEN_RUNS = 0.02
"""By how much a ratio differs between two measurements that nothing but chance tells apart, beside what their rounds
show: tensors lie elsewhere, clocks are others."""
_RESOLUTION = 1e-4
"""Milliseconds: by how much the time of a call may be off by the clock it is taken with. CUPTI's ticks are 32 ns."""


def sample(times: Sequence[float]) -> Sample:
    """The times of at least one call, in milliseconds."""
    low, high = _interval(len(times), lambda rounds: _median(times, rounds))
    first, _, third = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else (times[0],) * 3
    return Sample(len(times), statistics.median(times), low, high, first, third)


def is_precise(times: Sequence[float]) -> bool:
    """Whether more calls would hardly change the median: by the ranks between which it lies at 95 %."""
    ordered, half = sorted(times), len(times) / 2
    apart = _DEVIATIONS * math.sqrt(len(times)) / 2
    low, high = ordered[max(0, round(half - apart))], ordered[min(len(times) - 1, round(half + apart))]
    return (high - low) / 2 <= max(_PRECISION * statistics.median(ordered), _RESOLUTION / 2)


def speedup(subject: Sequence[float], other: Sequence[float]) -> Ratio:
    """How many times faster the subject is, from times of the same rounds."""

    def ratio(rounds: Sequence[int]) -> float:
        return _median(other, rounds) / _median(subject, rounds)

    low, high = _interval(len(subject), ratio)
    shortest = min(statistics.median(subject), statistics.median(other))
    slack = _BETWEEN_RUNS + _RESOLUTION / shortest
    return Ratio(ratio(range(len(subject))), low * (1 - slack), high * (1 + slack))


def _median(times: Sequence[float], rounds: Sequence[int]) -> float:
    return statistics.median([times[number] for number in rounds])


def _interval(rounds: int, of: Callable[[Sequence[int]], float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of a figure that is computed from rounds."""
    random = Random(rounds)
    drawn = sorted(of(random.choices(range(rounds), k=rounds)) for _ in range(_DRAWS))
    last = _DRAWS - 1
    return drawn[round(_TAIL * last)], drawn[round((1 - _TAIL) * last)]
