"""TAC409: a `tl.device_assert` of the kernel does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "make the kernel work for the case, or have the wrapper refuse it"


class FailedAssertion(Rule):
    code, name = "TAC409", "failed-assertion"
    summary = "A kernel's own `tl.device_assert` does not hold."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.ASSERTION,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"an assertion of `{run.name}` does not hold {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
