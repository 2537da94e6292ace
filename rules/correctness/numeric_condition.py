"""TAC134: the condition of a `tl.where` is a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.kernel.conditions import numeric_conditions
from tritonaudit.rule import Hit, Rule


class NumericCondition(Rule):
    code, name = "TAC134", "numeric-condition"
    summary = "The condition of a `tl.where` is a number, which Triton warns about and will reject."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"
    once_in = Extent.KERNEL

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for condition in numeric_conditions(kernel.module, kernel.function):
            text = ast.unparse(condition)
            yield Hit(
                kernel.place(condition),
                f"the condition `{text}` of `tl.where` is a number: Triton warns of it, and a later release will "
                "refuse it",
                remedy=f"compare it: `{text if isinstance(condition, ast.Name) else f'({text})'} != 0`",
            )
