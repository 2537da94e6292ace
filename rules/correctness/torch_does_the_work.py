"""TAC411: what a call returns was made by torch, and not by its kernels."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "return what the kernel writes; what torch should do belongs before or after the subject"


class TorchDoesTheWork(Rule):
    code, name = "TAC411", "torch-does-the-work"
    summary = "Kernels are launched, and torch makes what the call returns."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.TORCH_WORK,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` does not return what its kernels make {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
