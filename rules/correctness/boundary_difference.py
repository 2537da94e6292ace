"""TAC404: a result is wrong at the end of an axis, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = "round the grid up with `triton.cdiv`, mask the last tile, and set `other=` to the reference's padding"


class BoundaryDifference(Rule):
    code, name = "TAC404", "boundary-difference"
    summary = "A kernel treats the elements at the end of an axis differently from the reference."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.WRONG_AT_BOUNDARY,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if not run.is_at_boundary(seen.span) or run.has_known_cause(seen):
                continue
            message = f"`{run.name}` is wrong only at the boundary {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY)
