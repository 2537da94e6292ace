"""TAM104: a load in an arm of `tl.where`, which does not guard it."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.queries.late_guards import late_guards
from tritonaudit.rule import Hit, Rule


class LoadInWhereArm(Rule):
    code, name = "TAM104", "load-in-where-arm"
    summary = "A load has no mask, and the `tl.where` that compares its index comes after it."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for guard in late_guards(kernel):
            yield Hit(
                guard.access.node,
                f"this load runs for every lane, past the end as well: `tl.where` compares `{guard.index}` with"
                f" `{guard.bound}` only after it",
                remedy="give the comparison to the load as its mask, and the other arm as `other`",
                cause=Cause.OUT_OF_BOUNDS,
                related=((guard.where, "this `tl.where` chooses among values that are loaded already"),),
            )
