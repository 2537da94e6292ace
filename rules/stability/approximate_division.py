"""TAN111: an approximate division by something that grows without bound."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule


class ApproximateDivision(Rule):
    code, name = "TAN111", "approximate-division"
    summary = "`fast_dividef` by an exponential that can pass 2^126, beyond which it gives 0 or nan."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for node, term in kernel.approximate_quotients:
            yield Hit(
                node,
                "`fast_dividef` gives 0 where its divisor is above 2^126, and nan where the dividend is infinite as "
                f"well; `tl.{term.base}` of data in the divisor gets there",
                remedy="use `tl.sigmoid` where that is meant, or divide with `/`",
                related=((term.node, "this exponential is not bounded above"),),
            )
