"""TAN101: a sum is kept in 16 bits while it grows."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import Accumulation, KernelFlow
from tritonaudit.domains.value import HALF, INTEGERS
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.rule import Fixable, Hit, Rule


class LowPrecisionAccumulation(Rule):
    code, name = "TAN101", "low-precision-accumulation"
    summary = "A sum is accumulated in 16 bits, or rounded to them on its way."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"
    once_in = Extent.KERNEL
    fixable = Fixable.EITHER

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        from tritonaudit.fixes.precision import wide_sum

        for accumulation in kernel.accumulations:
            if (hit := self._accumulator(kernel, accumulation)) is not None:
                yield hit
        for node, operand, name in kernel.narrow_sums:
            if operand.dtype in HALF:
                yield Hit(
                    node,
                    f"`tl.{name}` adds in the dtype of its operand, {operand.dtype} here",
                    remedy="cast the operand first: `.to(tl.float32)`",
                    fix=wide_sum(kernel, node, operand),
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

    def _accumulator(self, kernel: KernelFlow, accumulation: Accumulation) -> Hit | None:
        from tritonaudit.fixes.precision import wide_accumulator

        dtype, added = accumulation.dtype, accumulation.added
        if dtype in HALF:
            kept, sure = dtype, Confidence.HIGH
        elif dtype.startswith("*") and added.dtype not in INTEGERS:
            # The element type may be an integer's: sure enough only where a float was cast to it.
            was_float = added.narrowed is not None and added.dtype == dtype
            is_float = was_float or added.dtype in ("fp16", "bf16", "fp32", "fp64")
            kept, sure = f"the element type of `{dtype[1:]}`", Confidence.MEDIUM if is_float else Confidence.LOW
        else:
            return None
        return Hit(
            accumulation.node,
            f"`{accumulation.name}` is accumulated over a loop in {kept}",
            remedy="accumulate in `tl.float32` and cast once, at the end",
            confidence=sure,
            fix=wide_accumulator(kernel, accumulation, safe=sure is not Confidence.LOW),
        )
