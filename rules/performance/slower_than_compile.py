"""TAP502: what torch.compile makes of the reference does the same in less time."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import MeasuredKernel, Role
from tritonaudit.rule import Hit, Rule


class SlowerThanCompile(Rule):
    code, name = "TAP502", "slower-than-compile"
    summary = "The subject keeps the GPU busy for longer than what torch.compile makes of its reference."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: MeasuredKernel) -> Iterator[Hit]:
        if slower := sentences.slower(kernel, Role.COMPILED):
            yield Hit(
                kernel.span,
                sentences.slow(kernel, slower),
                remedy="compare with the kernel that torch.compile writes: `TORCH_LOGS=output_code` shows it",
                witness=sentences.witness(kernel),
            )
