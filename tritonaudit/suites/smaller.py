"""Which case stands for one that does not end, or takes too long: a smaller one of the same kind.

Imports neither torch nor triton.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.axes import Axes, Axis
from tritonaudit.suites.core import CoreCase
from tritonaudit.suites.effort import Effort
from tritonaudit.suites.late import is_as_much_work
from tritonaudit.suites.limits import can_be_made
from tritonaudit.suites.outcome import CaseOutcome

_AFTER_LATE = 2.0
"""Seconds that what stands for a case that did not end may be expected to take."""
_PART = 4
"""The power of 2 that is kept of a size is no more than such a part of it."""


@dataclass
class Smaller:
    """Has smaller cases stand for those that do not end, of a subject whose launches used blocks of these sizes."""

    subject: Subject
    axes: Axes
    blocks: Sequence[int]
    replaced: list[tuple[str, str]] = field(default_factory=list)
    """The cases for which others stand, by their labels, and why."""
    _late: list[Case] = field(default_factory=list)

    def tried(
        self, one: CoreCase, call: Callable[[Case], CaseOutcome], effort: Effort, most: float = math.inf
    ) -> CoreCase:
        """What was called: the case, or once a smaller one where it does not end, or none that is as small did.

        And where it is expected to take more than `most` seconds: then one that is as large as these allow.
        """
        late = next((case for case in self._late if is_as_much_work(one.case, case)), None)
        is_long = late is None and effort.expected(self._sizes(one.case)) > most
        if late is None and not is_long and call(one.case).is_late:
            late = one.case
            self._late.append(late)
        smaller = list(self._instead(one)) if late is not None or is_long else []
        if is_long and (least := self.throughout(one.case)) is not None:
            smaller.append(self._with(one, self._sizes(least)))
        if not smaller:
            if is_long:
                call(one.case)
            return one
        expected = [(each, effort.expected(self._sizes(each.case))) for each in smaller]
        within = [each for each, seconds in expected if seconds <= most and (is_long or 0 < seconds <= _AFTER_LATE)]
        instead = within[0] if within else min(smaller, key=lambda each: math.prod(self._sizes(each.case).values()))
        call(instead.case)
        said = "it" if late in (None, one.case) else late.label
        why = "would take too long" if is_long else "does not end in time"
        self.replaced.append((one.case.label, f"{said} {why}: {instead.case.label} was tried in its place"))
        return instead

    def throughout(self, case: Case) -> Case | None:
        """The case with each of its sizes smaller that may have others; None where none has, or they cannot all."""
        sizes = self._sizes(case)
        less = {axis: self._less(axis, sizes[axis.name]) for axis in self.axes.sizes}
        fewer = {**sizes, **{axis.name: each[-1 if axis.most else 0] for axis, each in less.items() if each}}
        if fewer == sizes or not self._is_possible(fewer):
            return None
        return self._sized(case, fewer)

    def _sized(self, case: Case, sizes: dict[str, int]) -> Case:
        """The case with these sizes, of which it names those that are not as given."""
        return replace(case, sizes={name: size for name, size in sizes.items() if self.axes.given.get(name) != size})

    def _sizes(self, case: Case) -> dict[str, int]:
        return {**self.axes.given, **case.sizes}

    def _instead(self, one: CoreCase) -> Iterator[CoreCase]:
        """The case with its largest size smaller, where that may have others: the smallest comes last."""
        sizes = self._sizes(one.case)
        for axis in sorted(self.axes.sizes, key=lambda axis: -sizes[axis.name]):
            fewer = [{**sizes, axis.name: less} for less in self._less(axis, sizes[axis.name])]
            possible = [each for each in fewer if self._is_possible(each)]
            yield from (self._with(one, each) for each in possible)
            if possible:
                return

    def _with(self, one: CoreCase, sizes: dict[str, int]) -> CoreCase:
        others = [
            f"{name}={size} for {before}"
            for name, before in self._sizes(one.case).items()
            if (size := sizes[name]) != before
        ]
        return CoreCase(f"{one.what} with {', '.join(others)}", self._sized(one.case, sizes))

    def _less(self, axis: Axis, size: int) -> list[int]:
        """Smaller sizes, the largest first, that are as far beyond blocks, or a power of 2, as this one."""
        if not axis.most:
            return sorted((int(less) for less in axis.values if 0 < int(less) < size), reverse=True)
        steps = [block for block in self.blocks if 2 * block <= size] or [1 << max(size // _PART, 1).bit_length() - 1]
        beyond = {(step << power) + size % step for step in steps for power in range((size // step).bit_length())}
        return sorted((less for less in beyond if less < size), reverse=True)

    def _is_possible(self, sizes: dict[str, int]) -> bool:
        given = self.subject.given
        if given is not None and self.axes.given and given.why_not(sizes):
            return False
        return self.axes.limits.allow(sizes) and can_be_made(self.subject, sizes)
