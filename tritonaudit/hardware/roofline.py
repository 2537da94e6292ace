"""How fast work can at best be done by a part whose rates are known. Imports neither torch nor triton."""

from __future__ import annotations

from dataclasses import dataclass

from tritonaudit.hardware.targets import Source

TARGET = 0.9
"""The fraction of the roof that a kernel is expected to reach."""
SLACK = 0.05
"""By what fraction a time may be shorter than the least possible one before it is called impossible: clocks and rates
are known to a few percent only, and a read alone is a little faster than the copy that a bandwidth is measured by."""

_FACTORS = {"GB/s": 1e9, "TFLOP/s": 1e12, "TOP/s": 1e12, "GHz": 1e9, "MHz": 1e6, "B": 1.0, "": 1.0}


@dataclass(frozen=True)
class Conflict:
    """What another source says of a figure, in the figure's unit."""

    value: float
    source: Source


@dataclass(frozen=True)
class Figure:
    """What is known of a part: `value` in `unit`, None where no source was found.

    `unit` is "GB/s", "TFLOP/s" or "TOP/s" (of 10^9 and 10^12), "GHz", "MHz", "B", or empty for a number of things.
    `note` says how the value was derived, where the source does not state it as it is.
    """

    name: str
    value: float | None
    unit: str
    source: Source | None = None
    conflicts: tuple[Conflict, ...] = ()
    note: str = ""

    @property
    def in_base_unit(self) -> float | None:
        """The value in bytes, bytes per second, operations per second or Hz."""
        return None if self.value is None else self.value * _FACTORS[self.unit]


@dataclass(frozen=True)
class Work:
    """What a call has to do at least: floating-point operations, and bytes read from and written to memory.

    None is what could not be counted; the sources say how each was. `dtype` is torch's name for the dtype of the
    operands, of matrix products where `is_matrix`, that is where the operations are of these. `written` is the part
    of `bytes` that is written, None where that is not known.
    """

    flops: float | None
    flops_source: str
    bytes: float | None
    bytes_source: str
    dtype: str
    is_matrix: bool
    written: float | None = None


@dataclass(frozen=True)
class Roofline:
    """Work against what a part can do, and, where it was measured, the time that the work took.

    `bandwidth` is of DRAM and `rate` of the arithmetic that the work does. `cache` is the size of the last cache, which
    may still hold what was written when a kernel ends. `limit` is a faster rate that the work may have where it keeps
    less precise sums, if there is one. Whatever depends on an unknown figure is None.
    """

    work: Work
    bandwidth: Figure
    rate: Figure
    milliseconds: float | None = None
    cache: Figure | None = None
    limit: Figure | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of what is unknown and needed for `roof_milliseconds`."""
        counted = (("FLOPs", self.work.flops), ("bytes", self.work.bytes))
        figures = [self.bandwidth] if self.work.flops == 0 else [self.bandwidth, self.rate]
        return (
            *(name for name, value in counted if value is None),
            *(figure.name for figure in figures if figure.value is None),
        )

    @property
    def intensity(self) -> float | None:
        """Arithmetic intensity, in FLOP/B."""
        if self.work.flops is None or not self.work.bytes:
            return None
        return self.work.flops / self.work.bytes

    @property
    def ridge(self) -> float | None:
        """The arithmetic intensity, in FLOP/B, from which on the arithmetic takes longer than the memory."""
        rate, bandwidth = self.rate.in_base_unit, self.bandwidth.in_base_unit
        return None if rate is None or not bandwidth else rate / bandwidth

    @property
    def bound(self) -> str | None:
        """What the work takes longest for at best: "memory" or "compute"."""
        if self.work.flops == 0 and self.work.bytes:
            return "memory"
        memory, compute = self.memory_milliseconds, self.compute_milliseconds
        if memory is None or compute is None:
            return None
        return "compute" if compute > memory else "memory"

    @property
    def memory_milliseconds(self) -> float | None:
        """How long the bytes take at the full bandwidth."""
        return _milliseconds(self.work.bytes, self.bandwidth.in_base_unit)

    @property
    def compute_milliseconds(self) -> float | None:
        """How long the operations take at the full rate."""
        return 0.0 if self.work.flops == 0 else _milliseconds(self.work.flops, self.rate.in_base_unit)

    @property
    def roof_milliseconds(self) -> float | None:
        """The shortest time possible."""
        memory, compute = self.memory_milliseconds, self.compute_milliseconds
        return None if memory is None or compute is None else max(memory, compute)

    @property
    def target_milliseconds(self) -> float | None:
        """The time at `TARGET` of the roof."""
        return None if self.roof_milliseconds is None else self.roof_milliseconds / TARGET

    @property
    def reached(self) -> float | None:
        """The fraction of the roof that was reached."""
        if self.roof_milliseconds is None or not self.milliseconds:
            return None
        return self.roof_milliseconds / self.milliseconds

    @property
    def is_impossible(self) -> bool:
        """Whether the time is shorter, by more than `SLACK`, than what is known to be needed at least.

        Either limit suffices, so one unknown figure does not hide it. What was written need not have left the cache.
        """
        if self.milliseconds is None:
            return False
        fastest = self.rate if self.limit is None else self.limit
        limits = (
            _milliseconds(self._through_memory, self.bandwidth.in_base_unit),
            _milliseconds(self.work.flops, fastest.in_base_unit),
        )
        least = max((limit for limit in limits if limit is not None), default=0.0)
        return self.milliseconds * (1 + SLACK) < least

    @property
    def _through_memory(self) -> float | None:
        """The bytes that cannot have stayed in the cache."""
        if self.work.bytes is None:
            return None
        written = self.work.bytes if self.work.written is None else self.work.written
        size = self.cache.in_base_unit if self.cache else None
        return self.work.bytes - (written if size is None else min(written, size))


def _milliseconds(amount: float | None, per_second: float | None) -> float | None:
    return None if amount is None or not per_second else amount / per_second * 1e3
