"""TAC406: elements of the output are whatever was in memory before."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "round the grid up with `triton.cdiv`, mask only by the output's size, or begin with `torch.zeros`"


class OutputNotFullyWritten(Rule):
    code, name = "TAC406", "output-not-fully-written"
    summary = "A call returns elements that nobody has written."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.NOT_WRITTEN,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if not run.is_explained(seen, Symptom.HANG):
                message = f"`{run.name}` leaves output unwritten {sentences.cases(run, seen)}: {seen.text}"
                yield sentences.hit(seen, message, _REMEDY)
