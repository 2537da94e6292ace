"""TAC403: what comes out depends on the order of the programs."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "give each program its own place by `tl.program_id`, and combine what they have in a fixed order"


class Nondeterministic(Rule):
    code, name = "TAC403", "nondeterministic"
    summary = "A kernel's result depends on the order in which its programs run."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.NONDETERMINISTIC,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if run.is_explained(seen, Symptom.RACE, Symptom.UNINITIALISED):
                continue
            message = f"`{run.name}` depends on the order of its programs {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
