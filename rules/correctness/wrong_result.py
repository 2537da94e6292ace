"""TAC401: a kernel's result is not the reference's."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Seen, Symptom

_REMEDY = "compare the kernel with its reference on the case of the witness"
_REMEDY_OF_NAN = "let NaN through: `tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)`, as PyTorch does"

_DOUBTFUL_OF_NAN = (Severity.WARNING, Confidence.MEDIUM)
"""Whether NaN that is lost matters, who calls the kernel must say."""


class WrongResult(Rule):
    code, name = "TAC401", "wrong-result"
    summary = "A kernel's result differs from the reference's by more than its precision explains."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.WRONG_RESULT,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            if run.is_at_boundary(seen.span) or run.has_known_cause(seen):
                continue
            message = f"`{run.name}` gives a wrong result {sentences.cases(run, seen)}: {seen.text}"
            if _is_of_nan(seen):
                yield sentences.hit(seen, message, _REMEDY_OF_NAN, _DOUBTFUL_OF_NAN)
            else:
                yield sentences.hit(seen, message, _REMEDY)


def _is_of_nan(seen: Seen) -> bool:
    """Whether it is wrong where NaN is given, and nowhere else."""
    return all("nan" in label.split() for label in seen.cases)
