"""TAP506: the time is less than the GPU needs to move the bytes or to do the arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity, Status
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import MeasuredKernel
from tritonaudit.rule import Hit, Rule


class FasterThanPossible(Rule):
    code, name = "TAP506", "faster-than-possible"
    summary = "The time is less than the GPU's datasheet allows for the work."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: MeasuredKernel) -> Iterator[Hit]:
        impossible = [row for row in kernel.rows if row.by_datasheet is not None and row.by_datasheet.is_impossible]
        if not impossible:
            return
        row = impossible[0]
        roof = row.by_datasheet
        assert roof is not None
        least = roof.roof_milliseconds or roof.memory_milliseconds or roof.compute_milliseconds
        assert least is not None
        assert row.status is Status.FAIL
        yield Hit(
            kernel.span,
            f"`{kernel.subject}` takes {sentences.took(sentences.subject_of(row))} {sentences.where(row)}, and the"
            f" datasheet of {kernel.gpu.name} allows {sentences.milliseconds(least)} at best"
            f"{sentences.also(impossible[1:])}",
            remedy="see whether the work is done within the call at all, or counted too high: give the subject `bytes`",
            witness=sentences.witness(kernel),
        )
