"""Whether a limit or a multiple tells the sizes at which results are wrong from those at which they are right.

A wrapper that was written for a few sizes is right up to some size, or at multiples of a block. One that is wrong in
the midst of sizes at which it is right chooses by the size what it computes. Imports neither torch nor triton.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

_LEAST = 6
"""Sizes at which results are right, before they say anything of others."""


@dataclass
class RightSizes:
    """Full sets of sizes at which results were right."""

    _seen: dict[str, set[int]] = field(default_factory=dict)
    _sets: set[tuple[tuple[str, int], ...]] = field(default_factory=set)

    def add(self, sizes: Mapping[str, int]) -> None:
        """Results are right at these."""
        self._sets.add(tuple(sorted(sizes.items())))
        for name, measure in _measures(sizes):
            self._seen.setdefault(name, set()).add(measure)

    def surround(self, sizes: Mapping[str, int]) -> bool:
        """Whether no dimension or product of them is beyond all that are right, nor lacks what these have in common."""
        if len(self._sets) < _LEAST:
            return False
        return all(_is_among(measure, self._seen.get(name, set())) for name, measure in _measures(sizes))


def _measures(sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """What a kernel's limits are about: each dimension, and the products of several."""
    for number in range(1, len(sizes) + 1):
        if number in (1, 2, len(sizes)):
            for names in combinations(sorted(sizes), number):
                yield "*".join(names), math.prod(sizes[name] for name in names)


def _is_among(measure: int, right: set[int]) -> bool:
    if not right or not min(right) <= measure <= max(right) or measure % (math.gcd(*right) or 1):
        return False
    return _is_power(measure) or not all(map(_is_power, right))


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
