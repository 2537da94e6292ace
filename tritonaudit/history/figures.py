"""The figures of a kept subject: each with the interval that it is known to be in, and whether more is better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tritonaudit.history.entry import Data

_VERDICTS = ("fail", "warn", "pass")
"""The worst first; what was not run, or is inconclusive, is no verdict."""
_ERROR_SLACK = 0.05
"""By how much of itself the worst error may differ from run to run, for want of time to try the same cases."""


class Move(Enum):
    """What became of a figure; the value is what a report calls it."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"


@dataclass(frozen=True)
class Figure:
    """A figure between `low` and `high`, as it is `shown`. `is_timed` where another GPU has another."""

    shown: str
    low: float
    high: float
    more_is_better: bool
    is_timed: bool = False
    is_verdict: bool = False

    def since(self, earlier: Figure) -> Move:
        """What became of the earlier one: the same where the two may be equal."""
        if self.low <= earlier.high and earlier.low <= self.high:
            return Move.SAME
        return Move.BETTER if (self.low > earlier.high) == self.more_is_better else Move.WORSE


def figures_of(subject: Data) -> dict[str, Figure]:
    """The figures of a subject of an entry, by their names and in the order of the entry."""
    return dict(
        (
            *((one["check"], _verdict(one["status"])) for one in subject["checks"] if one["status"] in _VERDICTS),
            *_error(subject["error"]),
            *(named for row in subject["sizes"] if row["status"] != "fail" for named in _measured(row)),
        )
    )


def size_of(row: Data) -> str:
    """`large rows=4096 float16`."""
    return f"{row['size']} {row['case']}".strip()


def _verdict(status: str) -> Figure:
    rank = float(_VERDICTS.index(status))
    return Figure(status, rank, rank, more_is_better=True, is_verdict=True)


def _error(error: Data | None) -> Iterator[tuple[str, Figure]]:
    if error is not None:
        worst = math.inf if error["worst_ratio"] is None else float(error["worst_ratio"])
        shown = "not finite" if math.isinf(worst) else f"{worst:.2g}"
        yield (
            "worst error over its budget",
            Figure(shown, worst * (1 - _ERROR_SLACK), worst * (1 + _ERROR_SLACK), more_is_better=False),
        )


def _measured(row: Data) -> Iterator[tuple[str, Figure]]:
    """How long the subject takes at a size, how near the roof that is, and how much faster than the others."""
    size = size_of(row)
    own = next((one for one in row["contenders"] if one["role"] == "subject"), None)
    if own is not None and (time := own["milliseconds"]) is not None:
        shown = f"{time['median']:#.3g} ms"
        yield f"time, {size}", Figure(shown, time["low"], time["high"], more_is_better=False, is_timed=True)
        reached = row["roofline"] and row["roofline"]["reached"]
        if reached is not None:
            low, high = reached * time["median"] / time["high"], reached * time["median"] / time["low"]
            yield f"of the roof, {size}", Figure(f"{reached:.0%}", low, high, more_is_better=True, is_timed=True)
    for one in row["contenders"]:
        if (ratio := one["speedup"]) is not None:
            figure = Figure(f"{ratio['value']:.2f}×", ratio["low"], ratio["high"], more_is_better=True, is_timed=True)
            yield f"faster than {one['name']}, {size}", figure
