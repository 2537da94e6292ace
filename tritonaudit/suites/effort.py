"""What cases are likely to take, by those that were tried before. Imports neither torch nor triton."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Sizes = Mapping[str, int]
_Line = list[tuple[int, float]]

_TELLING_SECONDS = 0.2
"""What takes less says nothing of how time grows: a first call, or another process, makes as much of a difference."""
_LEAST_SECONDS = _TELLING_SECONDS / 10
"""What took less is taken for as much where it is compared."""
_TELLING_TIMES = 2
"""By which one of two sizes is larger, at least, to say how time grows with it."""

_NEAR_TIMES = 10
"""By which a size is larger, at most, than one that is quick, to be taken for quick as well."""


@dataclass(frozen=True)
class Effort:
    """What cases of these sizes took, in seconds."""

    taken: Sequence[tuple[Sizes, float]]

    def expected(self, sizes: Sizes) -> float:
        """Seconds for a case of these sizes; 0 where nothing is known, or nothing has taken long enough to tell.

        It takes as much longer than another as that one is smaller in each dimension: by as much as cases did that
        differ in this dimension alone, or else by how many times larger it is. It is the least of what those say that
        have most sizes in common with it, and of these rather of those that took long enough to tell.
        """
        if not any(seconds >= _TELLING_SECONDS for _, seconds in self.taken):
            return 0.0
        alike = [(other, seconds) for other, seconds in self.taken if other.keys() == sizes.keys()]
        said = [
            (-_common(other, sizes), seconds < _TELLING_SECONDS, self._by(other, seconds, sizes))
            for other, seconds in alike
        ]
        known = [(common, is_quick, seconds) for common, is_quick, seconds in said if seconds is not None]
        return min(known, default=(0, False, 0.0))[2]

    def _by(self, other: Sizes, seconds: float, sizes: Sizes) -> float | None:
        """Seconds by what another case took; None where that does not tell."""
        times = 1.0
        for name in [name for name, size in sizes.items() if size > other[name]]:
            grown = _grown(self._lines[_line(name, other)], sizes[name])
            if grown is not None:
                times *= grown / max(seconds, _LEAST_SECONDS)
            elif seconds >= _TELLING_SECONDS:
                times *= sizes[name] / max(other[name], 1)
            else:
                return None
        return max(seconds, _LEAST_SECONDS) * times if times > 1 else seconds

    @cached_property
    def _lines(self) -> Mapping[tuple[str, frozenset[tuple[str, int]]], _Line]:
        """Sizes of each dimension, and seconds, of the cases that differ in it alone."""
        lines: dict[tuple[str, frozenset[tuple[str, int]]], dict[int, float]] = {}
        for sizes, seconds in self.taken:
            for name, size in sizes.items():
                line = lines.setdefault(_line(name, sizes), {})
                line[size] = max(line.get(size, 0.0), seconds)
        return {key: sorted(line.items()) for key, line in lines.items()}


def longest_each(expected: Iterable[float], seconds: float) -> float:
    """What none of the cases may exceed, so that all of them end within these seconds; inf where they do anyway."""
    rest = sorted(expected)
    for number, one in enumerate(rest):
        share = max(seconds, 0.0) / (len(rest) - number)
        if one > share:
            return share
        seconds -= one
    return math.inf


def _common(one: Sizes, other: Sizes) -> int:
    return sum(size == other[name] for name, size in one.items())


def _line(name: str, sizes: Sizes) -> tuple[str, frozenset[tuple[str, int]]]:
    return name, frozenset((other, size) for other, size in sizes.items() if other != name)


def _grown(line: _Line, size: int) -> float | None:
    """Seconds at a size that may be beyond all of the line; None where that does not tell.

    Time grows as a straight line does, or as a power of the size: of the two it is the longer one.
    """
    (small, quick), (large, slow) = line[0], max((one for one in line if one[0] <= size), default=line[0])
    if size <= large:
        return slow
    small, large, size = max(small, 1), max(large, 1), max(size, 1)
    if slow < _TELLING_SECONDS:
        return slow if size <= _NEAR_TIMES * large else None
    if large < _TELLING_TIMES * small:
        return None
    quick = min(max(quick, _LEAST_SECONDS), slow)
    straight = slow + (slow - quick) / (large - small) * (size - large)
    return max(straight, slow * math.pow(size / large, math.log(slow / quick) / math.log(large / small)))
