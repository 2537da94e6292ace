"""TAC107: `and`, `or`, `not` or a chained comparison on blocks."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.rule import Hit, Rule

_REMEDIES = {
    "and": "write `(a) & (b)`, with each comparison in parentheses",
    "or": "write `(a) | (b)`, with each comparison in parentheses",
    "not": "write `~mask`",
    "chained comparison": "write `(a < b) & (b < c)`",
}


class PythonBooleanOnTensor(Rule):
    code, name = "TAC107", "python-boolean-on-tensor"
    summary = "A Python boolean operator combines blocks; Triton deprecates it and its interpreter gets it wrong."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for use in kernel.booleans:
            blocks = [operand for operand in use.operands if operand.is_block]
            if not blocks:
                continue
            if use.operator in ("and", "or"):
                message = f"`{use.operator}` between blocks is deprecated since Triton 3.4"
                message += ", binds more loosely than it reads, and gives another result under TRITON_INTERPRET=1"
            elif use.operator == "not":
                message = "`not` of a block gives one Python truth value under TRITON_INTERPRET=1"
            else:
                message = "a chained comparison of blocks does not compile before Triton 3.9"
            yield Hit(
                use.node,
                message,
                remedy=_REMEDIES[use.operator],
                severity=Severity.INFO if use.operator == "not" else None,
            )
