"""TAM405: lanes of one store write different numbers to one place."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "combine the lanes before the store, or use an atomic such as `tl.atomic_add`"


class CollidingLanes(Rule):
    code, name = "TAM405", "colliding-lanes"
    summary = "Lanes of one store write different values to one place."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.COLLIDING_LANES,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"`{run.name}` writes different values to one place {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
