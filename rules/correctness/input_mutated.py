"""TAC405: an argument is another after the call."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "write to a tensor of the wrapper's own, or name the argument in the subject's `mutates` if it is meant"


class InputMutated(Rule):
    code, name = "TAC405", "input-mutated"
    summary = "A call silently changes a tensor that it is given."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.INPUT_CHANGED,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` changes what it is given {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
