"""TAM401: an access outside of the tensor that its pointer is of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "mask the access by the tensor's own sizes, and follow its strides where it is not contiguous"


class OutOfBounds(Rule):
    code, name = "TAM401", "out-of-bounds"
    summary = "A kernel accesses memory outside the tensor that its pointer points into."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.OUT_OF_BOUNDS,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if not run.is_explained_there(seen, Symptom.OVERFLOW):
                message = f"`{run.name}` goes out of bounds {sentences.cases(run, seen)}: {seen.text}"
                yield replace(sentences.hit(seen, message, _REMEDY), cause=Cause.OUT_OF_BOUNDS)
