"""TAC415: work goes on beside the call."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "do the work in the call, on the current stream, and wait for threads before returning"


class SecondStreamOrThread(Rule):
    code, name = "TAC415", "second-stream-or-thread"
    summary = "Something runs beside the call: a thread, or a stream that nobody waits for."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.THREAD,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` is not done when it returns {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
