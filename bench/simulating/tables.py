"""What the timings of all rounds come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import median

from bench.fidelity.tables import table
from bench.simulating.sides import BASELINE, Timing

_MOST_DEVIATION = 0.01  # of the greatest value: a product of tf32 numbers is within it
HEAD = ("case", "side", "first launch:", "later launches:", f"times {BASELINE}:", "note")


@dataclass(frozen=True)
class Summary:
    """The timings that one side has of one case, of the rounds that it took part in."""

    timings: tuple[Timing, ...]

    @property
    def first(self) -> float | None:
        """The median of the first launches, which compile."""
        return _median([timing.first for timing in self.timings if timing.first is not None])

    @property
    def later(self) -> float | None:
        """The median over rounds of the median of the other launches."""
        return _median([median(timing.later) for timing in self.timings if timing.later])

    @property
    def failed(self) -> str:
        """Why a round has no or not all launches."""
        return next((timing.failed for timing in self.timings if timing.failed), "")

    @property
    def note(self) -> str:
        """What a reader must know besides: no launch, a result that is not what is expected, what was left out."""
        if self.failed:
            return f"cannot: {self.failed}" if self.later is None and not self.failed.startswith(">") else self.failed
        remark = next((timing.remark for timing in self.timings if timing.remark), "")
        return ", ".join(filter(None, (self._deviation, remark)))

    @property
    def _deviation(self) -> str:
        deviation = max((timing.deviation or 0.0 for timing in self.timings), key=lambda one: (isnan(one), one))
        if isnan(deviation):
            return "computes no results"
        return f"off by {deviation:.1g}" if deviation > _MOST_DEVIATION else ""


def times(titles: Mapping[str, str], found: Mapping[tuple[str, str], Sequence[Timing]]) -> str:
    """The table. `titles` are those of the cases, `found` has the timings of each case and side."""
    rows = []
    for (case, side), timings in found.items():
        summary = Summary(tuple(timings))
        baseline = Summary(tuple(found[case, BASELINE])).later
        rows.append(
            (
                titles[case],
                side,
                seconds(summary.first),
                seconds(summary.later),
                ratio(baseline, summary.later),
                summary.note,
            )
        )
    return table(HEAD, rows)


def seconds(value: float | None) -> str:
    """With three digits, in milliseconds below a second."""
    if value is None:
        return "-"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def ratio(baseline: float | None, value: float | None) -> str:
    """How many times as fast as the baseline."""
    if baseline is None or not value:
        return "-"
    return f"{baseline / value:.1f}" if baseline / value < 100 else f"{baseline / value:.0f}"


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
