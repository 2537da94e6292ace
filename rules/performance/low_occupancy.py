"""TAP304: so few warps fit a multiprocessor that memory's latency is not hidden."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.compile.tuning import spilled_bytes, troubled
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule

_LOW = 4
"""Less than one in so many of the warps that a multiprocessor could hold."""


class LowOccupancy(Rule):
    code, name = "TAP304", "low-occupancy"
    summary = "A multiprocessor is estimated to hold few warps of a memory-bound kernel."
    severity, confidence, since = Severity.INFO, Confidence.MEDIUM, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        variants = troubled(kernel, _is_low).unavoidable
        if not variants or troubled(kernel, lambda variant: spilled_bytes(variant) > 0).unavoidable:
            return
        limits = phrases.listed(_limit(variant) for variant in variants)
        yield Hit(
            kernel.span,
            f"a multiprocessor holds few warps of `{kernel.name}`, by an estimate: {_warps(variants)}"
            f" {phrases.where(variants, kernel)}; limited by {limits}{phrases.assumed(variants)}",
            remedy="use a smaller tile, so that a program needs less of it, or fewer stages",
            confidence=phrases.sure(Confidence.MEDIUM, variants),
        )


def _is_low(variant: Variant) -> bool:
    """Whether registers or shared memory, and not the size of a program, keep the warps below a quarter.

    Kernels with matrix instructions are fed by asynchronous copies: few warps suffice them. Where none fits at all,
    that is what to fix.
    """
    resources = variant.resources
    assert resources is not None
    if variant.matrix or not resources.occupancy or not resources.occupancy_of:
        return False
    return resources.occupancy * _LOW < resources.occupancy_of and _limit(variant) in ("registers", "shared memory")


def _limit(variant: Variant) -> str:
    return variant.resources.occupancy_limit if variant.resources else ""


def _warps(variants: tuple[Variant, ...]) -> str:
    held = {(v.resources.occupancy, v.resources.occupancy_of) for v in variants if v.resources}
    return phrases.listed(f"{warps} of {most}" for warps, most in sorted(held))
