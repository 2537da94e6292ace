"""TAC145: a kernel adds to a tensor that nothing has set."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.unset import unset_buffers
from tritonaudit.rule import Hit, Rule


class UnsetBuffer(Rule):
    code, name = "TAC145", "unset-buffer"
    summary = "A kernel adds to what a tensor holds, and the host code makes the tensor without contents."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in unset_buffers(kernel):
            update = found.update
            verb = "adds to" if update.adds else "reads"
            yield Hit(
                update.read.node,
                f"this {verb} `{update.parameter}`, and nothing has set what the launch passes for it",
                remedy="make it with `torch.zeros`",
                related=(
                    (kernel.place(found.made), "it is made here"),
                    (kernel.place(found.site.call), "this is the launch"),
                ),
            )
