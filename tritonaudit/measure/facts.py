"""What measuring a subject showed. Imports neither torch nor triton, so that rules and reports may read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from tritonaudit.capture.launch import KernelRef
from tritonaudit.finding import Span, Status
from tritonaudit.hardware.roofline import Figure, Roofline, Work
from tritonaudit.subject.model import Case

NO_ROOM = "does not fit into the GPU's memory"
"""What the reasons of rows hold that were not timed, or not verified, for that."""
_UNSTABLE, _LEAST_SPREAD = 0.1, 0.0005
"""The part of their median, and the milliseconds, over which the middle half of times spreads that are unstable."""


class Role(Enum):
    """What is timed; the value is what a report calls it, but a baseline has its own name."""

    SUBJECT = "Triton"
    PYTORCH = "PyTorch"
    COMPILED = "torch.compile"
    BASELINE = "baseline"


@dataclass(frozen=True)
class Sample:
    """How long `runs` calls took, in milliseconds: median, its 95 % bootstrap interval, and the quartiles."""

    runs: int
    median: float
    low: float
    high: float
    first_quartile: float
    third_quartile: float

    @property
    def spread(self) -> float:
        """The interquartile range over the median."""
        return (self.third_quartile - self.first_quartile) / self.median if self.median else 0.0

    @property
    def is_unstable(self) -> bool:
        """Whether it spreads so much that nothing can be said of it; clocks alone do not make the shortest unstable."""
        return self.is_spread_over(1.0)

    def is_spread_over(self, part: float) -> bool:
        """Whether it spreads over more than that part of what makes it unstable."""
        return self.spread > part * _UNSTABLE and self.third_quartile - self.first_quartile > part * _LEAST_SPREAD


@dataclass(frozen=True)
class Ratio:
    """How many times faster the subject is than another contender, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def is_faster(self) -> bool:
        return self.low > 1

    @property
    def is_slower(self) -> bool:
        return self.high < 1


@dataclass(frozen=True)
class Timed:
    """What timing one contender at one size came to.

    `device` is for how long the GPU was busy with a call, its caches flushed before; `wall` from the call until
    the GPU had finished. `method` says how the former was learnt. Where there is no time, `reason` says why;
    `doubts` are reasons not to rely on the times. `speedup` is the subject's over this contender.
    """

    role: Role
    name: str
    device: Sample | None = None
    wall: Sample | None = None
    method: str = ""
    speedup: Ratio | None = None
    reason: str = ""
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clock:
    """The clock of the multiprocessors in MHz, before and after the timing, and the highest that they can have."""

    before: int
    after: int
    highest: int


@dataclass(frozen=True)
class Row:
    """A subject at one size. `size` is "small", "medium", "large", or empty for a size of the correctness suite.

    `status` is PASS where times can be relied on, WARN where there are doubts, FAIL where a result was wrong before
    or after the timing or a time is impossible, NOT_RUN where there are no times; `reason` says why. `configs` are
    those that autotuners chose. `roofline` is of what this GPU was measured to reach, `by_datasheet` of its datasheet.
    """

    case: Case
    size: str
    status: Status
    reason: str = ""
    timed: tuple[Timed, ...] = ()
    work: Work | None = None
    roofline: Roofline | None = None
    by_datasheet: Roofline | None = None
    clock: Clock | None = None
    configs: tuple[str, ...] = ()

    def of(self, role: Role) -> Timed | None:
        """The contender of that role; of several baselines the first."""
        return next((one for one in self.timed if one.role is role), None)

    def refused(self, reason: str) -> Row:
        """The row as one that failed for that reason too: no speed-up is claimed of it."""
        timed = tuple(replace(one, speedup=None) for one in self.timed)
        return replace(self, status=Status.FAIL, timed=timed, reason="; ".join(filter(None, (self.reason, reason))))


@dataclass(frozen=True)
class Gpu:
    """The GPU that was measured: its name, driver, and the rates that it was measured to reach."""

    name: str
    driver: str
    ceilings: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Counter:
    """What the profiler counted in a launch, or at a line of it: `name` as a report calls it, `value` in `unit`."""

    name: str
    value: float
    unit: str
    metric: str
    line: int | None = None


@dataclass(frozen=True)
class Profile:
    """What the profiler (ncu) saw of one launch of a kernel in a case; `reason` says why it saw nothing."""

    kernel: KernelRef
    case: Case
    counters: tuple[Counter, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class MeasuredKernel:
    """All that measuring one subject showed of one kernel. `span` is that of its name."""

    path: str
    name: str
    span: Span
    subject: str
    gpu: Gpu
    rows: tuple[Row, ...]
    profiles: tuple[Profile, ...] = ()
