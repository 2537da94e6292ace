"""TAC414: what a call returns is not a plain tensor."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "return a `torch.Tensor` whose elements are computed by then"


class FakeTensor(Rule):
    code, name = "TAC414", "fake-tensor"
    summary = "What the call returns is not a plain tensor with memory for its elements."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.NO_TENSOR,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` does not return a plain tensor {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
