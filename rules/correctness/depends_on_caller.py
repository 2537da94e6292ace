"""TAC212: what a wrapper launches or returns depends on who calls it."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.callers import decisions
from tritonaudit.rule import Hit, Rule


class DependsOnCaller(Rule):
    code, name = "TAC212", "depends-on-caller"
    summary = "What a wrapper launches or returns depends on who calls it, not only on what it is given."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in decisions(kernel.module, kernel.function):
            yield Hit(
                kernel.place(found.test),
                f"`{found.wrapper}` does something else depending on {found.asked}: a test of it says nothing of what"
                " other callers get",
                remedy="decide by the arguments, and by properties of their tensors and of the GPU",
            )
