"""TAP507: what is reached is below the target of 90 % of the roof."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.hardware.roofline import TARGET
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import MeasuredKernel
from tritonaudit.rule import Hit, Rule


class BelowTarget(Rule):
    code, name = "TAP507", "below-target"
    summary = "Less than 90 % of what this GPU was measured to reach is reached."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: MeasuredKernel) -> Iterator[Hit]:
        held = sentences.worth_a_roof(kernel)
        if not held:
            return
        row, reached = max(held, key=lambda found: sentences.roof(found[0]))
        if not sentences.LOW <= reached < TARGET:
            return
        assert row.roofline is not None
        assert row.roofline.target_milliseconds is not None
        yield Hit(
            kernel.span,
            f"`{kernel.subject}` reaches {reached:.0%} of the roof at its largest size, {row.case.label}: the target of"
            f" {TARGET:.0%} is {sentences.milliseconds(row.roofline.target_milliseconds)}, and it takes"
            f" {sentences.took(sentences.subject_of(row))}",
            remedy="tune tiles, warps and stages for this size",
            witness=sentences.witness(kernel),
        )
