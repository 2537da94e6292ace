"""What cases are likely to take, by those that were tried before. Imports neither torch nor triton."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Sizes = Mapping[str, int]

_TELLING_SECONDS = 0.2
"""What takes less says nothing of how time grows: a first call, or another process, makes as much of a difference."""
_TELLING_TIMES = 2
"""By which one of two sizes is larger, at least, to say how time grows with it."""


@dataclass(frozen=True)
class Effort:
    """What cases of these sizes took, in seconds."""

    taken: Sequence[tuple[Sizes, float]]

    def expected(self, sizes: Sizes) -> float:
        """Seconds for a case of these sizes; 0 where nothing is known, or none that is smaller takes long enough.

        Along a single dimension time grows as a line does, or as a power of the size: of the two it is the longer one.
        Where no two cases lie on such a line it grows as the number of elements.
        """
        alike = [(other, seconds) for other, seconds in self.taken if other.keys() == sizes.keys()]
        beside = [along for name in sizes if (along := _along(name, sizes, alike)) is not None]
        if beside:
            return max(beside)
        smaller = [(_elements(other), seconds) for other, seconds in alike if _elements(other) <= _elements(sizes)]
        rates = [seconds / each for each, seconds in smaller if seconds >= _TELLING_SECONDS]
        return min(rates, default=0.0) * _elements(sizes)


def longest_each(expected: Iterable[float], seconds: float) -> float:
    """What none of the cases may exceed, so that all of them end within these seconds; inf where they do anyway."""
    rest = sorted(expected)
    for number, one in enumerate(rest):
        share = max(seconds, 0.0) / (len(rest) - number)
        if one > share:
            return share
        seconds -= one
    return math.inf


def _along(name: str, sizes: Sizes, alike: Sequence[tuple[Sizes, float]]) -> float | None:
    """Seconds by the smallest and the largest of the cases that are smaller in this dimension alone; None without."""
    others = {key: size for key, size in sizes.items() if key != name}
    line = sorted(
        (other[name], seconds)
        for other, seconds in alike
        if 0 < other[name] <= sizes[name] and all(other[key] == size for key, size in others.items())
    )
    if not line:
        return None
    (small, quick), (large, slow) = line[0], line[-1]
    if large == sizes[name]:
        return slow
    if large < _TELLING_TIMES * small:
        return None
    if slow < _TELLING_SECONDS or slow <= quick:
        return 0.0
    quick = max(quick, _TELLING_SECONDS / 10)
    straight = slow + (slow - quick) / (large - small) * (sizes[name] - large)
    return max(straight, slow * math.pow(sizes[name] / large, math.log(slow / quick) / math.log(large / small)))


def _elements(sizes: Sizes) -> int:
    return math.prod(max(size, 1) for size in sizes.values())
