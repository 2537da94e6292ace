"""TAC208: a division after a loop that the data may leave nothing to run over."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.empty_loops import empty_loops
from tritonaudit.rule import Hit, Rule


class EmptyInput(Rule):
    code, name = "TAC208", "empty-input"
    summary = "A loop adds up what is divided by after it, and the data may leave it nothing to run over."
    severity, confidence, since = Severity.INFO, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in empty_loops(kernel):
            length = () if found.length is None else ((found.length, "the length is loaded here"),)
            yield Hit(
                found.node,
                "where the loop before it has nothing to run over, this is 0 / 0, which is nan",
                remedy="keep the divisor above 0, `tl.maximum(…, 1e-12)`, or store zeros where there are no data",
                confidence=Confidence.LOW if found.split else None,
                related=(*length, (found.store, "it is stored here, with or without data")),
            )
