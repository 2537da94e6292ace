"""TAN101: a sum is kept in 16 bits while it grows."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import Accumulation, KernelFlow
from tritonaudit.flow.value import HALF, INTEGERS
from tritonaudit.rule import Hit, Rule


class LowPrecisionAccumulation(Rule):
    code, name = "TAN101", "low-precision-accumulation"
    summary = "A sum is accumulated in 16 bits, or rounded to them on its way."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for accumulation in kernel.accumulations:
            if (hit := self._accumulator(accumulation)) is not None:
                yield hit
        for node, operand, name in kernel.narrow_sums:
            if operand.dtype in HALF:
                yield Hit(
                    node,
                    f"`tl.{name}` adds in the dtype of its operand, {operand.dtype} here",
                    remedy="cast the operand first: `.to(tl.float32)`",
                )
        for node, value in kernel.late_casts:
            if value.narrowed is not None:
                yield Hit(
                    node,
                    "this value was rounded to 16 bits or to its input's dtype before it is widened again",
                    remedy="keep it in `tl.float32` until it is stored",
                    confidence=Confidence.MEDIUM,
                    related=((value.narrowed, "it is rounded here"),),
                )

    def _accumulator(self, accumulation: Accumulation) -> Hit | None:
        dtype = accumulation.dtype
        if dtype in HALF:
            kept = dtype
        elif dtype.startswith("*") and accumulation.added.dtype not in INTEGERS:
            kept = f"the element type of `{dtype[1:]}`"
        else:
            return None
        initial = accumulation.initial
        return Hit(
            accumulation.node,
            f"`{accumulation.name}` is accumulated over a loop in {kept}",
            remedy="accumulate in `tl.float32` and cast once, at the end",
            confidence=Confidence.HIGH if dtype in HALF else Confidence.MEDIUM,
            related=() if initial is None else ((initial, "its dtype is chosen here"),),
        )
