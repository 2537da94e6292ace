"""TAC302: the compiler warns of what a kernel does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.compile import phrases
from tritonaudit.compile.explanations import Explanation, explain_warning
from tritonaudit.compile.facts import CompiledKernel, CompileError, Variant
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule


class CompilerWarning(Rule):
    code, name = "TAC302", "compiler-warning"
    summary = "The compiler warns about a kernel, where nobody sees it."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        found: dict[CompileError, list[Variant]] = {}
        for variant in kernel.variants:
            for warning in variant.warnings:
                found.setdefault(warning, []).append(variant)
        yield from phrases.surest(self._hit(kernel, warning, variants) for warning, variants in found.items())

    def _hit(self, kernel: CompiledKernel, warning: CompileError, variants: Sequence[Variant]) -> Hit:
        explanation = explain_warning(warning.message)
        span, elsewhere = phrases.place(kernel, warning.path, warning.span)
        return Hit(
            span,
            f"the compiler warns about `{kernel.name}` {phrases.where(variants, kernel)}{elsewhere}:"
            f" {warning.message.rstrip('.')}{explanation.aside if explanation else ''}{phrases.assumed(variants)}",
            remedy=explanation.remedy if explanation else None,
            confidence=_confidence(variants, explanation),
        )


def _confidence(variants: Sequence[Variant], explanation: Explanation | None) -> Confidence:
    """What was assumed of the arguments may be wrong, but for some warnings it does not matter."""
    if any(not variant.assumed for variant in variants):
        return Confidence.HIGH
    return Confidence.MEDIUM if explanation and explanation.is_of_text else Confidence.LOW
