"""TAP501: PyTorch does the same in less time."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import MeasuredKernel, Role
from tritonaudit.rule import Hit, Rule


class SlowerThanPytorch(Rule):
    code, name = "TAP501", "slower-than-pytorch"
    summary = "The subject keeps the GPU busy for longer than PyTorch does."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: MeasuredKernel) -> Iterator[Hit]:
        if slower := sentences.slower(kernel, Role.PYTORCH):
            yield Hit(
                kernel.span,
                sentences.slow(kernel, slower),
                remedy="call PyTorch at these sizes, or see what the roofline and the compile stage say of the kernel",
                witness=sentences.witness(kernel),
            )
