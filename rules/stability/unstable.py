"""TAN401: a kernel loses far more digits than the problem does."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import SELDOM, RunKernel, Symptom

_SELDOM = (Severity.WARNING, Confidence.MEDIUM)
"""NaN beside a block of -inf in one tensor alone, which is ordinary only in a mask; sums that leave float16."""


class Unstable(Rule):
    code, name = "TAN401", "unstable"
    summary = "A kernel's error on hard inputs is beyond what the conditioning of the problem explains."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.UNSTABLE,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if run.has_known_cause(seen):
                continue
            message = f"`{run.name}` is unstable {sentences.cases(run, seen)}: {seen.text}"
            remedy = "subtract the maximum before `exp`, accumulate in float32, guard divisions"
            is_seldom = any(where in seen.text for where in SELDOM)
            yield sentences.hit(seen, message, remedy, _SELDOM if is_seldom else sentences.DOUBTFUL)
