"""TAM107: a load of what has just been loaded."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.repeats import repeated_loads
from tritonaudit.rule import Hit, Rule


class RepeatedLoad(Rule):
    code, name = "TAM107", "repeated-load"
    summary = "The same elements are loaded again, and nothing was stored in between."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for repeat in repeated_loads(kernel):
            yield Hit(
                repeat.again.node,
                f"this loads again what line {kernel.tree.span(repeat.first.node).line} has loaded: the address and"
                " the mask are the same, and nothing is stored in between",
                remedy="load once and use the value twice",
                related=((repeat.first.node, "the same elements are loaded here"),),
            )
