"""TAN103: an exponential is multiplied by the mask that its maximum has left out."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.infinities import products_with_mask
from tritonaudit.rule import Hit, Rule


class MaskAfterExp(Rule):
    code, name = "TAN103", "mask-after-exp"
    summary = "An exponential that may overflow is multiplied by a mask: inf * 0 is nan."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for product, exponential in products_with_mask(kernel):
            yield Hit(
                product,
                "the maximum that is subtracted leaves the masked lanes out, so that their exponential may be inf, "
                "and inf * 0 is nan",
                remedy='mask before the exponential, `tl.exp(tl.where(mask, x - m, -float("inf")))`',
                related=((exponential, "the exponential"),),
            )
