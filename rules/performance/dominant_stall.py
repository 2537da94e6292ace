"""TAP508: most of the waiting is done in one line, for one reason."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.hardware.roofline import TARGET
from tritonaudit.measure import sentences
from tritonaudit.measure.counters import SAMPLES
from tritonaudit.measure.profiled import ProfiledKernel
from tritonaudit.measure.stalls import STALLS
from tritonaudit.rule import Hit, Rule

_DOMINANT = 0.5
_LEAST_SAMPLES = 100
"""Of fewer a share says little."""


class DominantStall(Rule):
    code, name = "TAP508", "dominant-stall"
    summary = "More than half of all waiting was seen in one line, for one reason."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: ProfiledKernel) -> Iterator[Hit]:
        reached = None if kernel.row is None else sentences.reached(kernel.row)
        samples = kernel.total(SAMPLES) or 0
        if reached is None or reached >= TARGET or samples < _LEAST_SAMPLES:
            return
        for counter in kernel.counters:
            stall = STALLS.get(counter.unit)
            is_dominant = counter.name == SAMPLES and counter.value > _DOMINANT * samples
            if is_dominant and stall is not None and counter.line is not None:
                yield Hit(
                    kernel.places[counter.line].span,
                    f"of all waiting in `{kernel.name}` {counter.value / samples:.0%} is in this line, for"
                    f" {stall.meaning} ({stall.name}), at {kernel.case.label}, where {reached:.0%} of the roof is"
                    " reached",
                    remedy=stall.remedy,
                    witness=sentences.witness_by_profiler(kernel),
                )
