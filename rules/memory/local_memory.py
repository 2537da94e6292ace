"""TAM302: a program keeps data in local memory though nothing was spilled."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule

_RANGE_REDUCTION = 64
"""Bytes per thread: `tl.sin` and `tl.cos` take up to 40 for arguments above 105,615, and touch them only then."""


class LocalMemory(Rule):
    code, name = "TAM302", "local-memory"
    summary = "A program keeps data of its threads in memory, though its registers are enough."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        variants = [variant for variant in kernel.compiled if _frame(variant) > _RANGE_REDUCTION]
        if not variants:
            return
        yield Hit(
            kernel.span,
            f"`{kernel.name}` keeps {phrases.spread(map(_frame, variants))} bytes per thread in local memory, without"
            f" spilling, {phrases.where(variants, kernel)}{phrases.assumed(variants)}",
            remedy="take out what needs an address: a `tl.device_print`, a call of a `noinline` function",
            confidence=phrases.sure(Confidence.HIGH, variants),
        )


def _frame(variant: Variant) -> int:
    """The bytes of a thread's stack and local memory where none of them are spilled registers."""
    resources = variant.resources
    assert resources is not None
    if resources.spill_stores or resources.spill_loads:
        return 0
    return max(resources.stack or 0, resources.local or 0)
