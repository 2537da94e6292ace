"""TAC301: the compiler rejects a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.compile import phrases
from tritonaudit.compile.explanations import Explanation, explain
from tritonaudit.compile.facts import CompiledKernel, CompileError, Variant
from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.rule import Hit, Rule

_LONGEST = 300
"""Characters of the compiler's own words that a message repeats."""


class DoesNotCompile(Rule):
    code, name = "TAC301", "does-not-compile"
    summary = "The compiler rejects a kernel that its wrapper launches."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        by_place: dict[tuple[object, ...], list[tuple[CompileError, Variant]]] = {}
        for variant in kernel.variants:
            if (error := variant.error) is not None and not _is_passed_over(kernel, variant, error):
                place = (error.path, error.span)
                by_place.setdefault(place, []).append((error, variant))
        yield from phrases.surest(self._hit(kernel, failed) for failed in by_place.values())

    def _hit(self, kernel: CompiledKernel, failed: Sequence[tuple[CompileError, Variant]]) -> Hit:
        error = failed[0][0]
        variants = [variant for _, variant in failed]
        explanation = explain(error.message)
        span, elsewhere = phrases.place(kernel, error.path, error.span)
        others = _compiled_elsewhere(kernel, variants)
        least = "; only the least sizes fail, which nobody asked for" if _is_of_least(variants) else ""
        assumed = "" if _is_sure(failed) else phrases.assumed(variants)
        return Hit(
            span,
            f"`{kernel.name}` does not compile {phrases.where(variants, kernel)}{elsewhere}: {_said(error.message)}"
            f"{explanation.aside if explanation else ''}{others}{least}{assumed}",
            remedy=explanation.remedy if explanation else None,
            severity=_severity(kernel, failed, explanation),
            confidence=_confidence(failed, explanation),
            cause=Cause.DOES_NOT_COMPILE,
        )


def _is_passed_over(kernel: CompiledKernel, variant: Variant, error: CompileError) -> bool:
    """Whether an autotuner passes over the config, as over one whose `tl.static_assert` fails, and has another."""
    explanation = explain(error.message)
    if not variant.config or explanation is None or not explanation.prunes:
        return False
    return any(other.target == variant.target for other in kernel.compiled)


def _said(message: str) -> str:
    words = " ".join(message.split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _compiled_elsewhere(kernel: CompiledKernel, failed: Sequence[Variant]) -> str:
    """Where it does compile: for other targets, else for other types, configs or cases of the same ones."""
    targets = {variant.target for variant in failed}
    if elsewhere := [variant for variant in kernel.compiled if variant.target not in targets]:
        return f"; it does for {phrases.targets(elsewhere)}"
    here = [variant for variant in kernel.compiled if variant.target in targets]
    return f"; it does {phrases.where(here, kernel)}" if here else ""


def _is_of_least(failed: Sequence[Variant]) -> bool:
    return all(variant.is_least for variant in failed)


def _is_sure(failed: Sequence[tuple[CompileError, Variant]]) -> bool:
    """Whether one of the launches fails so without any assumption."""
    return any(error.is_certain or not variant.assumed for error, variant in failed)


def _confidence(failed: Sequence[tuple[CompileError, Variant]], explanation: Explanation | None) -> Confidence:
    """What was assumed of the arguments may be wrong, but for some complaints it does not matter."""
    if _is_sure(failed):
        return Confidence.MEDIUM if _is_of_least([variant for _, variant in failed]) else Confidence.HIGH
    return Confidence.MEDIUM if explanation and explanation.is_of_text else Confidence.LOW


def _severity(
    kernel: CompiledKernel, failed: Sequence[tuple[CompileError, Variant]], explanation: Explanation | None
) -> Severity:
    """What was assumed may be wrong, and a type that the hardware lacks is no defect where another target has it."""
    if not _is_sure(failed) or _is_of_least([variant for _, variant in failed]):
        return Severity.WARNING
    targets = {variant.target for _, variant in failed}
    spared = any(variant.target not in targets for variant in kernel.compiled)
    return Severity.WARNING if spared and explanation and explanation.is_hardware else Severity.ERROR
