"""TAP302: a program needs more shared memory than its target has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.compile.tuning import choice_of, troubled
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule


class SharedMemoryOverLimit(Rule):
    code, name = "TAP302", "shared-memory-over-limit"
    summary = "A program needs more shared memory than its target has, so it cannot be launched."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        over = troubled(kernel, _is_over)
        if over.unavoidable:
            severity = Severity.WARNING if phrases.assumed(over.unavoidable) else Severity.ERROR
            yield self._hit(kernel, over.unavoidable, severity, "every such launch fails")
        elif over.avoidable:
            yield self._hit(kernel, over.avoidable, Severity.WARNING, _skipped(kernel, over.avoidable))

    def _hit(self, kernel: CompiledKernel, variants: Sequence[Variant], severity: Severity, effect: str) -> Hit:
        return Hit(
            kernel.span,
            f"`{kernel.name}` needs more shared memory than there is, {_needs(variants)},"
            f" {phrases.where(variants, kernel)}: {effect}{phrases.assumed(variants)}",
            remedy=_remedy(variants),
            severity=severity,
            confidence=phrases.sure(Confidence.HIGH, variants),
        )


def _is_over(variant: Variant) -> bool:
    return variant.shared_limit is not None and _shared(variant) > variant.shared_limit


def _shared(variant: Variant) -> int:
    assert variant.resources is not None
    return variant.resources.shared


def _needs(variants: Sequence[Variant]) -> str:
    """The most that is needed of each limit."""
    worst: dict[int, int] = {}
    for variant in variants:
        limit = variant.shared_limit or 0
        worst[limit] = max(worst.get(limit, 0), _shared(variant))
    return phrases.listed(f"{phrases.memory(size)} of {phrases.memory(limit)}" for limit, size in worst.items())


def _skipped(kernel: CompiledKernel, over: Sequence[Variant]) -> str:
    """What the autotuner makes of it: a config that does not fit is passed over."""
    fit = min(len(_fitting(kernel, choice)) for choice in map(choice_of, over))
    return f"the autotuner skips that, and has {phrases.counted(fit, 'config')} that fit{'s' * (fit == 1)}"


def _fitting(kernel: CompiledKernel, choice: object) -> set[str]:
    """The configs that compile and fit in all cases for a target and types of tensors."""
    variants = [variant for variant in kernel.variants if choice_of(variant) == choice]
    failing = {variant.config for variant in variants if variant.error is not None or _is_over(variant)}
    return {variant.config for variant in variants} - failing


def _remedy(variants: Sequence[Variant]) -> str:
    """Fewer stages where so many would fit, by the estimate that each takes as much of the memory as any other."""
    stages = {variant.resources.stages for variant in variants if variant.resources}
    if len(stages) != 1 or not (now := stages.pop()) or now == 1:
        return "use fewer stages or a smaller tile" if stages else "use a smaller tile"
    enough = min((variant.shared_limit or 0) * now // _shared(variant) for variant in variants)
    if enough == 0:
        return "use a smaller tile"
    return f"use fewer stages (`num_stages={min(enough, now - 1)}`) or a smaller tile"
