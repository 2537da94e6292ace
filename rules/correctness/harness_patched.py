"""TAC416: the audited code has replaced what judges it."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "leave torch and its settings, Triton and `time` as they are: wrap what you need in a function of your own"


class HarnessPatched(Rule):
    code, name = "TAC416", "harness-patched"
    summary = "A function that judges results or takes the time, or a setting of the process, is changed."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.PATCHED,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` comes with code that changes what judges it: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
