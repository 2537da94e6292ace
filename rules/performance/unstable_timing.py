"""TAP505: the times spread too much to be compared."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import MeasuredKernel
from tritonaudit.rule import Hit, Rule


class UnstableTiming(Rule):
    code, name = "TAP505", "unstable-timing"
    summary = "The times of equal calls spread by more than a tenth."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: MeasuredKernel) -> Iterator[Hit]:
        spread = [
            (timed.device.spread, row)
            for row in sentences.relied_on(kernel)
            if (timed := sentences.subject_of(row)).device is not None and timed.device.is_unstable
        ]
        if not spread:
            return
        worst, row = max(spread, key=lambda found: found[0])
        yield Hit(
            kernel.span,
            f"the times of `{kernel.subject}` are unstable {sentences.where(row)}: the middle half of them spreads over"
            f" {worst:.0%} of their median, so that no speed-up is claimed{sentences.also(spread[1:])}",
            remedy="see whether its work depends on the order of its programs or others use the GPU, and measure again",
            witness=sentences.witness(kernel),
        )
