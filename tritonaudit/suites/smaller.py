"""Which case stands for one that does not end: a smaller one of the same kind. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.axes import Axes, Axis
from tritonaudit.suites.core import CoreCase
from tritonaudit.suites.late import is_as_much_work
from tritonaudit.suites.limits import can_be_made
from tritonaudit.suites.outcome import CaseOutcome

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

    def tried(self, one: CoreCase, call: Callable[[Case], CaseOutcome]) -> CoreCase:
        """What was called: the case, or once a smaller one where it does not end, or none that is as small did."""
        late = next((case for case in self._late if is_as_much_work(one.case, case)), None)
        if late is None and call(one.case).is_late:
            late = one.case
            self._late.append(late)
        if late is None or (instead := self._instead(one)) is None:
            return one
        call(instead.case)
        said = "it" if late is one.case else late.label
        reason = f"{said} does not end in time: {instead.case.label} was tried in its place"
        self.replaced.append((one.case.label, reason))
        return instead

    def throughout(self, case: Case) -> Case | None:
        """The case with each of its sizes smaller that may have others; None where none has, or they cannot all."""
        sizes = {**self.axes.given, **case.sizes}
        less = {axis.name: self._less(axis, sizes[axis.name]) for axis in self.axes.sizes}
        fewer = {**sizes, **{name: size for name, size in less.items() if size}}
        if fewer == sizes or not self._is_possible(fewer):
            return None
        return replace(case, sizes={name: size for name, size in fewer.items() if self.axes.given.get(name) != size})

    def _instead(self, one: CoreCase) -> CoreCase | None:
        """The case with its largest size smaller, where that may have others."""
        sizes = {**self.axes.given, **one.case.sizes}
        for axis in sorted(self.axes.sizes, key=lambda axis: -sizes[axis.name]):
            less = self._less(axis, sizes[axis.name])
            fewer = {**sizes, axis.name: less}
            if less and self._is_possible(fewer):
                chosen = {name: size for name, size in fewer.items() if self.axes.given.get(name) != size}
                return CoreCase(
                    f"{one.what} with {axis.name}={less} for {sizes[axis.name]}", replace(one.case, sizes=chosen)
                )
        return None

    def _less(self, axis: Axis, size: int) -> int:
        """A size that is as far beyond a block, or a power of 2, as this one; 0 where there is none.

        Of several blocks one is left where the size is beyond that, too.
        """
        if not axis.most:
            return max((int(less) for less in axis.values if 0 < int(less) < size), default=0)
        block = next((block for block in sorted(self.blocks, reverse=True) if 2 * block <= size), 0)
        step = block or 1 << max(size // _PART, 1).bit_length() - 1
        less = step + size % step
        return less if less < size else 0

    def _is_possible(self, sizes: dict[str, int]) -> bool:
        given = self.subject.given
        if given is not None and self.axes.given and given.why_not(sizes):
            return False
        return self.axes.limits.allow(sizes) and can_be_made(self.subject, sizes)
