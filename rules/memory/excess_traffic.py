"""TAM502: a kernel moves many more bytes through memory than it has to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tritonaudit.finding import Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.counters import READ, WRITTEN
from tritonaudit.measure.facts import Row
from tritonaudit.measure.profiled import ProfiledKernel
from tritonaudit.rule import Hit, Rule

_EXCESS = 1.5


class ExcessTraffic(Rule):
    code, name = "TAM502", "excess-traffic"
    summary = "A kernel was seen to move at least 1.5 times the bytes through memory that its work needs."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: ProfiledKernel) -> Iterator[Hit]:
        row, read, written = kernel.row, kernel.total(READ), kernel.total(WRITTEN)
        if row is None or row.work is None or not row.work.bytes or read is None or written is None:
            return
        moved, needed = read + written, row.work.bytes
        if not kernel.is_alone or moved < _EXCESS * needed or not _costs_time(row, moved):
            return
        yield Hit(
            kernel.span,
            f"`{kernel.name}` moves {moved / needed:.1f} times the bytes needed at {kernel.case.label}:"
            f" {_bytes(read)} read and {_bytes(written)} written, and its work takes {_bytes(needed)}"
            f" ({row.work.bytes_source})",
            remedy="read each element once: keep it in registers, fuse the passes, or order the programs so that those"
            " which share data run together",
            witness=sentences.witness_by_profiler(kernel),
        )


def _costs_time(row: Row, moved: float) -> bool:
    """Whether moving that much takes longer than the arithmetic; where that is unknown it may."""
    if row.work is None or row.roofline is None:
        return True
    return replace(row.roofline, work=replace(row.work, bytes=moved)).bound != "compute"


def _bytes(number: float) -> str:
    """`1,024.0 MiB`."""
    return f"{number / (1 << 20):,.1f} MiB"
