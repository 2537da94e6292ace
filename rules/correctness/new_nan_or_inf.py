"""TAC402: NaN or Inf comes out where the reference has a number."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "guard what is divided by, subtract the maximum before `exp`, and keep products and sums in float32"


class NewNanOrInf(Rule):
    code, name = "TAC402", "new-nan-or-inf"
    summary = "A kernel's result is NaN or infinite where the reference's is a number."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.NEW_NON_FINITE,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if run.has_known_cause(seen):
                continue
            message = f"`{run.name}` makes NaN or Inf {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
