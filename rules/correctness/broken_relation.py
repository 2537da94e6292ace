"""TAC418: results of one wrapper that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "compute the same for the same values however they are given, or refuse with a `raise` what is not supported"


class BrokenRelation(Rule):
    code, name = "TAC418", "broken-relation"
    summary = "Results of one wrapper for the same values contradict each other."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.BROKEN_RELATION,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if run.is_explained(seen, Symptom.OUT_OF_BOUNDS, Symptom.RACE, Symptom.UNINITIALISED):
                continue
            message = f"`{run.name}` contradicts itself {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
