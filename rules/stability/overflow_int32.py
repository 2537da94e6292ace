"""TAN402: an address is computed from an integer that overflowed."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "widen a factor before the product: `tl.program_id(0).to(tl.int64)`, `offsets.to(tl.int64)`"

_DOUBTFUL = (Severity.WARNING, Confidence.MEDIUM)
"""With tensors of more than 2^31 elements alone."""


class OverflowInt32(Rule):
    code, name = "TAN402", "overflow-int32"
    summary = "An address is computed from an integer that overflowed."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.OVERFLOW,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"an integer overflows in an address of `{run.name}` {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY, _DOUBTFUL)
