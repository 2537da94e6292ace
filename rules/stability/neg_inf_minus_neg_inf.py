"""TAN104: -inf is subtracted from -inf where a whole row is masked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.infinities import collisions
from tritonaudit.rule import Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class NegInfMinusNegInf(Rule):
    code, name = "TAN104", "neg-inf-minus-neg-inf"
    summary = "The exponential of a row minus its maximum is nan where all of the row is -inf."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for collision in collisions(kernel):
            related: list[tuple[CSTNode, str]] = [(collision.exponential, "the exponential of it")]
            if collision.mask is not None:
                related.append((collision.mask, "the mask"))
            yield Hit(
                collision.difference,
                f"this is -inf - -inf = nan where all that the maximum is taken over is -inf: {collision.why.value}",
                remedy='subtract 0 there: `tl.where(m == -float("inf"), 0.0, m)` for the maximum `m`',
                related=tuple(related),
            )
