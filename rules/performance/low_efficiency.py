"""TAP503: the time is more than twice what the memory or the arithmetic of this GPU needs."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import MeasuredKernel
from tritonaudit.rule import Hit, Rule

_REMEDIES = {
    "memory": "see which loads move more bytes than are needed: TAM301 and, where ncu is present, TAM501 name them",
    "compute": "see whether matrix instructions are used (TAP303), registers spill (TAP301), and tiles are tuned",
}


class LowEfficiency(Rule):
    code, name = "TAP503", "low-efficiency"
    summary = "Less than half of what this GPU was measured to reach is reached."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: MeasuredKernel) -> Iterator[Hit]:
        low = [(row, reached) for row, reached in sentences.worth_a_roof(kernel) if reached < sentences.LOW]
        if not low:
            return
        row, reached = min(low, key=lambda found: found[1])
        roof = row.roofline
        assert roof is not None
        assert roof.roof_milliseconds is not None
        bound = roof.bound or "memory"
        figure = roof.rate if bound == "compute" else roof.bandwidth
        yield Hit(
            kernel.span,
            f"`{kernel.subject}` reaches {reached:.0%} of the roof {sentences.where(row)}: it takes"
            f" {sentences.took(sentences.subject_of(row))}, and the {figure.name} of {figure.value:.4g} {figure.unit}"
            f" would allow {sentences.milliseconds(roof.roof_milliseconds)}{sentences.also(low[1:])}",
            remedy=_REMEDIES[bound],
            witness=sentences.witness(kernel),
        )
