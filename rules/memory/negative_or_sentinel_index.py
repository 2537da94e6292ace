"""TAM105: a loaded index that may be negative is used as an address."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.queries.sentinels import negative_indices
from tritonaudit.rule import Hit, Rule


class NegativeOrSentinelIndex(Rule):
    code, name = "TAM105", "negative-or-sentinel-index"
    summary = "An index that the kernel shows to be negative at times is used as an address unchecked."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in negative_indices(kernel):
            yield Hit(
                found.access.node,
                f"this {found.access.what} is at a loaded index, and {found.why}",
                remedy="leave these lanes out by the mask: `mask=mask & (index >= 0)`",
                cause=Cause.OUT_OF_BOUNDS,
                related=((found.shown, "it is seen here that the index may be negative"),),
            )
