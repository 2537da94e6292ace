"""TAC413: the output is memory of an input, or of an earlier output."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = (
    "allocate the output in every call, or name the argument in the subject's `mutates` if it is meant to work in place"
)


class AliasedOutput(Rule):
    code, name = "TAC413", "aliased-output"
    summary = "The output is the memory of an input that the call writes to, or of an earlier output."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.ALIASED,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` returns memory that is not its own {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
