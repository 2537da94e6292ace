"""TAN112: a prefix sum whose carry from block to block is not what the prefix ends at."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.value import FLOATS
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.scans import carried_scans
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import span_of


class CarriedScan(Rule):
    code, name = "TAN112", "carried-scan"
    summary = "A prefix sum over blocks continues from a sum that rounds differently, so thresholds fall between them."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        lines = kernel.module.lines
        scans = tuple(carried_scans(kernel.module, kernel.function))
        sums = kernel.narrow_sums if scans else ()
        dtypes = {kernel.tree.span(node): operand.dtype for node, operand, _ in sums}
        for scan in scans:
            if dtypes.get(span_of(scan.total, lines)) not in FLOATS:
                continue
            yield Hit(
                span_of(scan.prefix, lines),
                f"this prefix sum goes on from `{scan.carry}`, to which `tl.sum({scan.operand})` is added: it rounds "
                "differently from `tl.cumsum`, and a threshold between the two is in no block",
                remedy="carry on what the prefix ends at: the maximum of a `tl.cumsum` of what is not negative",
                related=((span_of(scan.total, lines), "the carry is added up here"),),
            )
