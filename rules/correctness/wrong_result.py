"""TAC401: a kernel's result is not the reference's."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom


class WrongResult(Rule):
    code, name = "TAC401", "wrong-result"
    summary = "A kernel's result differs from the reference's by more than its precision explains."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.WRONG_RESULT,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` gives a wrong result {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, "compare the kernel with its reference on the case of the witness")
