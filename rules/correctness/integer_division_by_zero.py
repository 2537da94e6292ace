"""TAC408: an integer is divided by 0."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "guard the divisor, `tl.maximum(count, 1)`, or load it with `other=1`"


class IntegerDivisionByZero(Rule):
    code, name = "TAC408", "integer-division-by-zero"
    summary = "An integer is divided by zero, and the result is undefined."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.DIVISION_BY_ZERO,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` divides an integer by zero {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
