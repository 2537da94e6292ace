"""TAM404: lanes that a load leaves out are used."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "say with `other=` what the lanes hold, or mask the store as the load is masked"


class UndefinedLaneUsed(Rule):
    code, name = "TAM404", "undefined-lane-used"
    summary = "A kernel stores what a masked load without `other` left undefined."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"
    symptoms = (Symptom.UNDEFINED_LANE,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` uses lanes that no load filled {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY, (self.severity, self.confidence))
