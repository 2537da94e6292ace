"""TAM106: the lanes of an access lie apart from each other in memory."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.lanes_apart import lanes_apart
from tritonaudit.rule import Hit, Rule


class StridedLanes(Rule):
    code, name = "TAM106", "strided-lanes"
    summary = "No two lanes of an access are adjacent in memory, so each is a separate access."
    severity, confidence, since = Severity.INFO, Confidence.LOW, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in lanes_apart(kernel):
            what, beside = found.access.what, found.beside
            yield Hit(
                found.access.node,
                f"the lanes of this {what} are `{found.stride}` elements apart: it is as many accesses as lanes",
                remedy="load both at once and take them apart with `tl.reshape` and `tl.split`"
                if beside is not None
                else "lay an axis of the tile along the dimension whose elements lie side by side",
                related=() if beside is None else ((beside.node, "the elements between them are here"),),
            )
