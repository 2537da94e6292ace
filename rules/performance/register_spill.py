"""TAP301: the values of a program do not fit its registers, and some are kept in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.compile.tuning import spilled_bytes, troubled
from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.rule import Hit, Rule

_HARMLESS = 32
"""Bytes per thread: 1,024 threads that spill them fill the 28 KiB of L1 that the largest shared memory leaves."""
_MOST_WARPS = 16


class RegisterSpill(Rule):
    code, name = "TAP301", "register-spill"
    summary = "A program needs more registers than a thread can have, so that values are kept in memory."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        if many := troubled(kernel, lambda variant: spilled_bytes(variant) >= _HARMLESS).unavoidable:
            yield self._hit(kernel, many, Severity.WARNING, phrases.sure(Confidence.MEDIUM, many))
        elif some := [variant for variant in kernel.compiled if spilled_bytes(variant) > 0]:
            yield self._hit(kernel, some, Severity.INFO, Confidence.LOW)

    def _hit(
        self, kernel: CompiledKernel, variants: Sequence[Variant], severity: Severity, confidence: Confidence
    ) -> Hit:
        sizes = phrases.spread(map(spilled_bytes, variants))
        return Hit(
            kernel.span,
            f"`{kernel.name}` spills registers: {sizes} bytes stored and loaded per thread"
            f" {phrases.where(variants, kernel)}{phrases.assumed(variants)}",
            remedy=_remedy(variants),
            severity=severity,
            confidence=confidence,
            cause=Cause.SPILL,
        )


def _remedy(variants: Sequence[Variant]) -> str:
    warps = {variant.resources.warps for variant in variants if variant.resources is not None}
    if len(warps) == 1 and (now := warps.pop()) < _MOST_WARPS:
        return f"use a smaller tile, or `num_warps={now * 2}`, which gives each thread half of this one to hold"
    return "use a smaller tile, or walk over it in a loop"
