"""TAP306: a compiled kernel needs more than it was given."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.compile import phrases
from tritonaudit.compile.budget import METRICS, Limit, Overrun
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule


class OverBudget(Rule):
    code, name = "TAP306", "over-budget"
    summary = "A compiled kernel breaks the budget that it was given."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, over: Overrun) -> Iterator[Hit]:
        limits = dict.fromkeys(violation.limit for violation in over.violations)
        variants = [violation.variant for violation in over.violations]
        yield Hit(
            over.kernel.span,
            f"`{over.kernel.name}` breaks its budget: {'; '.join(_broken(over, limit) for limit in limits)}"
            f"{phrases.assumed(variants)}",
            remedy="bring it down, or raise the budget where the need is justified",
            confidence=phrases.sure(Confidence.HIGH, variants),
        )


def _broken(over: Overrun, limit: Limit) -> str:
    broken = [violation for violation in over.violations if violation.limit == limit]
    values = phrases.spread(violation.value for violation in broken)
    variants = [violation.variant for violation in broken]
    return f"`{limit.text}`, but {values} {METRICS[limit.metric].what} {phrases.where(variants, over.kernel)}"
