"""Cases that nobody can foresee: numbers by a seed that is drawn for each audit, and sizes that are in no list.

Imports neither torch nor triton.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.axes import QUICK, Axes, Axis, is_huge, shrunk
from tritonaudit.suites.limits import can_be_made

_TRIES = 8
"""Draws of the sizes of a case, each from half as many, until one can be made."""
_MOST_DRAWS = 6 * _TRIES
_IN_CORE = 4
"""Cases that nobody can foresee, beside those of unlisted sizes, which belong to the core."""
_LEAST_UNLISTED, _MOST_UNLISTED = 20, 4000
_MOST_AXES = 4
"""Dimensions, the last ones, that have an unlisted size."""
_STEPS, _NEAR = (8, 10), 3
"""An unlisted size is no multiple of these, and no so near neighbour of a power of 2 or of three times one."""
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

    One dimension after the other, the last one first, has a size that is in no list, in the midst of those that are
    tried. Then one after the other takes any size that it may have, and the others such as are quick; then all of them
    take any up to the ordinary one, between sizes at which the subject is known to be right or wrong.
    """
    if not callable(subject.inputs) and not subject.tensors:
        return
    numbers = Random(seed)
    yield replace(beside, seed=_fresh(numbers))
    unlisted = (_unlisted(subject, axes, axis, beside, numbers) for axis in _unlisted_axes(axes))
    yield from (case for case in unlisted if case is not None)
    free = [axis for axis in axes.sizes if axis.most]
    while free:
        found = [_drawn(subject, axes, free, wide, beside, numbers) for wide in (*free, None)]
        yield from (case for case in found if case is not None)
        if not any(found):
            return


def fresh_in_core(axes: Axes) -> int:
    """How many of these cases nothing passes without: those of unlisted sizes are among them."""
    return _IN_CORE + len(_unlisted_axes(axes))


def _unlisted_axes(axes: Axes) -> list[Axis]:
    return [axis for axis in reversed(axes.sizes) if axis.most][:_MOST_AXES]


def _unlisted(subject: Subject, axes: Axes, axis: Axis, beside: Case, numbers: Random) -> Case | None:
    most = min(_MOST_UNLISTED, _largest_tried(axes, axis))
    for attempt in range(_MOST_DRAWS):
        size = _log_uniform(_LEAST_UNLISTED, max(most >> attempt // _TRIES, _LEAST_UNLISTED), numbers)
        if size < most and size not in axis.values and not _may_be_listed(size):
            case = _with_sizes(subject, axes, {axis.name: size}, beside, numbers)
            if case is not None:
                return case
    return None


def _largest_tried(axes: Axes, axis: Axis) -> int:
    """Of sizes that are given the ordinary one, for a wrapper may take no larger ones, unless that leaves no room."""
    ordinary = int(axis.ordinary)
    if axes.given and ordinary >= 2 * _LEAST_UNLISTED:
        return ordinary
    return max((int(size) for size in axis.values if not is_huge(size)), default=0)


def _may_be_listed(size: int) -> bool:
    """Whether somebody who lists the sizes that are usually tried may have it."""
    power = 1 << size.bit_length()
    usual = (power, power // 2, 3 * power // 4)  # those about it
    return any(size % step == 0 for step in _STEPS) or any(abs(size - one) <= _NEAR for one in usual)


def _drawn(
    subject: Subject, axes: Axes, free: list[Axis], wide: Axis | None, beside: Case, numbers: Random
) -> Case | None:
    for attempt in range(_TRIES):
        if wide is None:
            drawn = {axis.name: _any(int(axis.ordinary), numbers) for axis in free}
        else:
            drawn = {axis.name: _log_uniform(1, int(axis.ordinary), numbers) for axis in free}
            drawn[wide.name] = _any(wide.most >> attempt // 2, numbers)
        case = _with_sizes(subject, axes, drawn, beside, numbers)
        if case is not None:
            return case
    return None


def _with_sizes(subject: Subject, axes: Axes, drawn: Mapping[str, int], beside: Case, numbers: Random) -> Case | None:
    """The case with these sizes in place of its own, and other numbers; None where it cannot be made."""
    smaller = {axis.name: axis.smaller for axis in axes.sizes}
    sizes = shrunk({**axes.given, **beside.sizes, **drawn}, smaller, axes.limits, keep=[*drawn], share=QUICK)
    if not (axes.limits.allow(sizes, QUICK) and can_be_made(subject, sizes)):
        return None
    if subject.given is not None and axes.given and subject.given.why_not(sizes):
        return None
    chosen = {name: size for name, size in sizes.items() if axes.given.get(name) != size}
    return replace(beside, sizes=chosen, seed=_fresh(numbers))


def _any(most: int, numbers: Random) -> int:
    return numbers.randint(1, max(most, 1))


def _log_uniform(least: int, most: int, numbers: Random) -> int:
    """Between these, small ones more often."""
    return round(math.exp(numbers.uniform(math.log(least), math.log(max(most, least)))))
