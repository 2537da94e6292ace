"""Cases that nobody can foresee: numbers by a seed that is drawn for each audit, and sizes that are in no list.

Imports neither torch nor triton.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.axes import QUICK, Axes, Axis, shrunk
from tritonaudit.suites.limits import can_be_made

_TRIES = 8
"""Draws of the sizes of a case, each from half as many, until one can be made."""
_LEAST_SEED = 1 << 32
"""Where nobody chooses a seed torch has one of 64 bits: a small one shows that somebody did."""


def fresh_seeds(beside: Case, seed: int) -> Iterator[Case]:
    """Without end: this case with other numbers."""
    numbers = Random(seed)
    while True:
        yield replace(beside, seed=_fresh(numbers))


def _fresh(numbers: Random) -> int:
    """A seed such as torch has where nobody chooses any."""
    return numbers.randrange(_LEAST_SEED, 1 << 63)


def fresh_cases(subject: Subject, axes: Axes, beside: Case, seed: int) -> Iterator[Case]:
    """Without end, if there are any: this case with other numbers, then with other sizes, too, where these are free.

    One dimension after the other takes any size that it may have, and the others such as are quick; then all of them
    take any up to the ordinary one, between sizes at which the subject is known to be right or wrong.
    """
    if not callable(subject.inputs) and not subject.tensors:
        return
    numbers = Random(seed)
    yield replace(beside, seed=_fresh(numbers))
    free = [axis for axis in axes.sizes if axis.most]
    while free:
        found = [_drawn(subject, axes, free, wide, beside, numbers) for wide in (*free, None)]
        yield from (case for case in found if case is not None)
        if not any(found):
            return


def _drawn(
    subject: Subject, axes: Axes, free: list[Axis], wide: Axis | None, beside: Case, numbers: Random
) -> Case | None:
    smaller = {axis.name: axis.smaller for axis in axes.sizes}
    for attempt in range(_TRIES):
        if wide is None:
            drawn = {axis.name: _any(int(axis.ordinary), numbers) for axis in free}
        else:
            drawn = {axis.name: _quick(axis, numbers) for axis in free}
            drawn[wide.name] = _any(wide.most >> attempt // 2, numbers)
        sizes = shrunk({**axes.given, **beside.sizes, **drawn}, smaller, axes.limits, keep=[*drawn], share=QUICK)
        is_taken = subject.given is None or not axes.given or not subject.given.why_not(sizes)
        if is_taken and axes.limits.allow(sizes, QUICK) and can_be_made(subject, sizes):
            chosen = {name: size for name, size in sizes.items() if axes.given.get(name) != size}
            return replace(beside, sizes=chosen, seed=_fresh(numbers))
    return None


def _any(most: int, numbers: Random) -> int:
    return numbers.randint(1, max(most, 1))


def _quick(axis: Axis, numbers: Random) -> int:
    """Up to the ordinary size, small ones more often."""
    return round(math.exp(numbers.uniform(0, math.log(max(int(axis.ordinary), 1)))))
