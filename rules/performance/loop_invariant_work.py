"""TAP102: a load that every turn of a loop makes, though no turn changes what it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.queries.invariant_loads import invariant_loads
from tritonaudit.rule import Hit, Rule

_HOISTED = "the compiler leaves it there before Triton 3.6"


class LoopInvariantWork(Rule):
    code, name = "TAP102", "loop-invariant-work"
    summary = "A loop loads the same data in every iteration."
    severity, confidence, since = Severity.INFO, Confidence.MEDIUM, "0.1"
    once_in = Extent.KERNEL

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in () if kernel.for_vendor else invariant_loads(kernel):
            why = "the loop stores, so that the compiler leaves it there" if found.stores else _HOISTED
            yield Hit(
                kernel.place(found.node),
                f"this load of `{found.tensor}` reads the same in each turn of the loop over"
                f" `{ast.unparse(found.loop.target)}`: {why}",
                remedy="load it once before the loop",
                confidence=None if found.stores else Confidence.LOW,
                related=tuple((store.node, "this store is to another tensor") for store in found.stores[:1]),
            )
