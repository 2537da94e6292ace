"""TAP302: a program needs more shared memory than its target has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.compile.tuning import troubled
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
    targets = {variant.target for variant in over}
    wrong = {variant.config for variant in over}
    fit = dict.fromkeys(v.config for v in kernel.compiled if v.target in targets and v.config not in wrong)
    return f"the autotuner passes over that, and has {phrases.counted(len(fit), 'config')} that fit"


def _remedy(variants: Sequence[Variant]) -> str:
    stages = {variant.resources.stages for variant in variants if variant.resources}
    if len(stages) == 1 and (now := stages.pop()) and now > 1:
        return f"use fewer stages (`num_stages={now - 1}`) or a smaller tile"
    return "use fewer stages or a smaller tile"
