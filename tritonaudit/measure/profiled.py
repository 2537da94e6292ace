"""What the profiler saw of the kernels of a subject, at its places in the source. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonaudit.compile.places import Place, Places
from tritonaudit.finding import Span, Status

if TYPE_CHECKING:
    from tritonaudit.measure.facts import Counter, Gpu, Profile, Row
    from tritonaudit.measure.gather import MeasuredSubject
    from tritonaudit.subject.model import Case


@dataclass(frozen=True)
class ProfiledKernel:
    """What the profiler counted in one launch of a kernel.

    `span` is that of the kernel's name, and `places` is what stands in each line at which something was counted. `row`
    is the subject's at the profiled case, unless it failed; `is_alone` says that the subject launches no other kernel.
    """

    path: str
    name: str
    span: Span
    subject: str
    case: Case
    gpu: Gpu
    counters: tuple[Counter, ...]
    places: Mapping[int, Place] = field(default_factory=dict)
    row: Row | None = None
    is_alone: bool = True

    def total(self, name: str) -> float | None:
        """What was counted under that name in the whole launch, None where it was not counted."""
        return next((one.value for one in self.counters if one.name == name and one.line is None), None)

    def by_line(self, name: str) -> dict[int, float]:
        """What was counted under that name, line by line."""
        found: dict[int, float] = {}
        for one in self.counters:
            if one.name == name and one.line is not None:
                found[one.line] = found.get(one.line, 0.0) + one.value
        return found


def profiled_kernels(subject: MeasuredSubject, gpu: Gpu) -> Iterator[ProfiledKernel]:
    """The kernels of a subject of which the profiler saw something."""
    places = Places()
    for profile in subject.profiles:
        if profile.counters:
            yield _profiled(subject, profile, gpu, places)


def _profiled(subject: MeasuredSubject, profile: Profile, gpu: Gpu, places: Places) -> ProfiledKernel:
    kernel = profile.kernel
    path = kernel.path or str(subject.path)
    lines = {counter.line for counter in profile.counters if counter.line is not None}
    return ProfiledKernel(
        path,
        kernel.name,
        places.name(path, kernel.line),
        subject.name,
        profile.case,
        gpu,
        profile.counters,
        {line: places.line(path, line) for line in sorted(lines)},
        next((row for row in subject.rows if row.case == profile.case and row.status is not Status.FAIL), None),
        len(subject.launched) == 1,
    )
