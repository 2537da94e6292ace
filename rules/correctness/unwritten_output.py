"""TAC111: a program leaves a part of what it is to write as it was."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.half_updates import half_updates
from tritonaudit.queries.unwritten import unwritten_outputs
from tritonaudit.rule import Hit, Rule


class UnwrittenOutput(Rule):
    code, name = "TAC111", "unwritten-output"
    summary = (
        "A loaded value decides that part of a new output is never stored, or only half of a pair is updated in place."
    )
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in unwritten_outputs(kernel):
            state = "does not hold" if found.guard.arm else "holds"
            yield Hit(
                found.store.node,
                f"`{found.parameter}` is not written where `{found.guard.condition}` {state}, and the wrapper returns"
                " it as `torch.empty` made it",
                remedy="store zeros there, too, or make the output with `torch.zeros`",
                related=((kernel.place(found.made), "the output is made here, without contents"),),
            )
        for half in half_updates(kernel):
            yield Hit(
                half.store.node,
                "this stores one of two elements that are combined in place, and no store writes the other one back",
                remedy="compute the other one from the same two loads, and store it where it was loaded from",
                severity=Severity.ERROR,
                related=((half.load.node, "the other one is loaded here, and stays as it was"),),
            )
