"""TAC412: a later call gives what an earlier one has computed."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "compute from the call's own inputs each time; keep only what does not depend on them"


class StaleResult(Rule):
    code, name = "TAC412", "stale-result"
    summary = "A later call gives an earlier result, or a wrong one where an earlier was right."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.STALE,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = (
                f"`{run.name}` does not recompute its result in every call {sentences.cases(run, seen)}: {seen.text}"
            )
            yield sentences.hit(seen, message, _REMEDY)
