"""TAN109: a variance as the mean of squares minus the square of the mean."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.variances import is_one_pass_variance
from tritonaudit.rule import Hit, Rule


class OnePassVariance(Rule):
    code, name = "TAN109", "one-pass-variance"
    summary = "A variance computed as E[x²] - E[x]² loses all its digits where the mean is large."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for step in kernel.steps:
            if step.operation == "Subtract" and step.node is not None and is_one_pass_variance(*step.operands):
                yield Hit(
                    step.node,
                    "the mean of the squares minus the square of the mean cancels where the mean is large against the "
                    "deviation, and may even be negative",
                    remedy="sum the squares of `x - mean`, or combine partial means and variances (Welford)",
                )
