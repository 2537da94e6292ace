"""TAC116: parts of a buffer that lie one sequence's length apart, where sequences follow one another."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.overlapping_parts import overlapping_parts
from tritonaudit.rule import Hit, Rule


class OverlappingParts(Rule):
    code, name = "TAC116", "overlapping-parts"
    summary = "The parts of a buffer are one sequence apart, but hold several sequences."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in overlapping_parts(kernel):
            yield Hit(
                found.made.node,
                f"the parts of `{found.parameter}` lie as far apart as one sequence is long, to whose length"
                f" `{found.length}` was set, and each part holds all sequences: programs of several sequences store to"
                " the same place",
                remedy=f"keep what `{found.length}` was passed as, before it is set, and multiply by that",
                related=((found.access.node, "it is stored to here"),),
            )
