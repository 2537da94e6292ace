"""TAC417: a result that is computed from nothing passes."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "give the subject inputs whose results differ from one another, or a reference that shows more of them"


class WeakReference(Rule):
    code, name = "TAC417", "weak-reference"
    summary = "The reference cannot tell a right result from zeros, a mean, or shuffled elements."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"
    symptoms = (Symptom.WEAK_REFERENCE,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            where = sentences.cases(run, seen)
            message = f"what `{run.name}` gives is compared with a reference that proves little {where}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
