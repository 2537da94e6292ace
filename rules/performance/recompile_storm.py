"""TAP305: a kernel is compiled again for each size."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Sweep
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule

_BY_DESIGN = 3
"""Triton itself tells a number apart that is 1, divisible by 16, or neither."""


class RecompileStorm(Rule):
    code, name = "TAP305", "recompile-storm"
    summary = "A kernel is compiled again for each size of its data."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        storms = [sweep for sweep in kernel.sweeps if sweep.variants > _BY_DESIGN]
        if not storms:
            return
        arguments = phrases.listed(f"`{sweep.argument}`" for sweep in storms)
        yield Hit(
            kernel.span,
            f"`{kernel.name}` is compiled again for each size: {'; '.join(map(_counted, storms))}",
            remedy=f"pass {arguments} as a plain argument, or round it up (`triton.next_power_of_2`)",
        )


def _counted(sweep: Sweep) -> str:
    sizes = ", ".join(map(str, sweep.sizes))
    variants = f"{sweep.variants} variants by `{sweep.argument}`"
    return f"{len(sweep.sizes)} sizes of `{sweep.dimension}` ({sizes}) make {variants}"
