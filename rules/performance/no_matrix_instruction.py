"""TAP303: a matrix product of a narrow type is computed without the matrix unit."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule

_NARROW = ("fp16", "bf16", "fp8", "int8", "f16", "f8", "i8")
"""Operands that every target's matrix unit takes, or is given after a conversion."""


class NoMatrixInstruction(Rule):
    code, name = "TAP303", "no-matrix-instruction"
    summary = "A `tl.dot` of 8- or 16-bit operands was compiled without a matrix instruction."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        variants = [variant for variant in kernel.compiled if _products(variant) and not variant.matrix]
        if not variants:
            return
        types = phrases.listed(kind for variant in variants for kind in _products(variant))
        yield Hit(
            kernel.span,
            f"no matrix instruction computes the `tl.dot` of {types} operands in `{kernel.name}`"
            f" {phrases.where(variants, kernel)}{phrases.assumed(variants)}",
            remedy="make each side of the product at least 16 (32 along K for 8-bit types)",
            confidence=phrases.sure(Confidence.HIGH, variants),
        )


def _products(variant: Variant) -> list[str]:
    """The operand types of its matrix products that a matrix unit is for."""
    return [kind for kind, _ in variant.dots if kind.startswith(_NARROW)]
