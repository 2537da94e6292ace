"""TAC410: a call computes without a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = (
    "launch the kernel in this case too, or leave the case out of the subject's sizes and dtypes if it is not for it"
)


class NoKernelLaunched(Rule):
    code, name = "TAC410", "no-kernel-launched"
    summary = "A call of the wrapper launches no kernel."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.NO_KERNEL,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` gives a result without a kernel {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
