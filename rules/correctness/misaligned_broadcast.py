"""TAC117: one value for each row of a block is combined with it along the columns."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.broadcasts import misaligned
from tritonaudit.rule import Hit, Rule


class MisalignedBroadcast(Rule):
    code, name = "TAC117", "misaligned-broadcast"
    summary = "A value for each row of a block is combined with the block along its columns."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in misaligned(kernel):
            yield Hit(
                found.node,
                f"the shapes are {found.block} and {found.other}: the smaller block is laid along the last axis of the"
                " larger one, and has a value for each element of the first",
                remedy="give it the missing axis: `[:, None]`, or `keep_dims=True` where it is reduced",
                related=() if found.reduced is None else ((found.reduced, "it is reduced here, along the last axis"),),
            )
