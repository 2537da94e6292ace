"""TAC111: a program that skips its work leaves its part of a new output unwritten."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.flow.unwritten import unwritten_outputs
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import span_of


class UnwrittenOutput(Rule):
    code, name = "TAC111", "unwritten-output"
    summary = "All stores to an output made by `torch.empty` are skipped where a loaded value says so."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in unwritten_outputs(kernel):
            state = "does not hold" if found.guard.arm else "holds"
            yield Hit(
                found.store.node,
                f"`{found.parameter}` is not written where `{found.guard.condition}` {state}, and the wrapper returns"
                " it as `torch.empty` made it",
                remedy="store zeros there, too, or make the output with `torch.zeros`",
                related=((span_of(found.made, kernel.module.lines), "the output is made here, without contents"),),
            )
