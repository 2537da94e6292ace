"""TAM403: what nobody wrote is used."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "allocate it with `torch.zeros`, or mask the load by how much is written"


class UninitialisedRead(Rule):
    code, name = "TAM403", "uninitialised-read"
    summary = "A kernel uses what it reads from memory that nobody has written."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.UNINITIALISED,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` uses what nobody wrote {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
