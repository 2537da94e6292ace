"""TAB102: the size of a tile stands as a number in the kernel, and again where it is launched."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.written_sizes import written_sizes
from tritonaudit.rule import Hit, Rule


class HardCodedSize(Rule):
    code, name = "TAB102", "hard-coded-size"
    summary = "The size of a tile is written as a number in the kernel and again in its launch."
    severity, confidence, since = Severity.INFO, Confidence.LOW, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for size in written_sizes(kernel):
            where = "in the offsets of programs" if size.again is None else "in the grid of the launch"
            yield Hit(
                size.node,
                f"{size.value} is this tile's size and is repeated {where}: if one changes, so must the other",
                remedy="make it a parameter, `BLOCK: tl.constexpr`, and have the launch pass what its grid divides by",
                related=() if size.again is None else ((kernel.place(size.again), "it is here, too"),),
            )
