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


_MESSAGES = {
    "and": "`and` with a block is deprecated since Triton 3.4, and gives another result under TRITON_INTERPRET=1",
    "or": "`or` with a block is deprecated since Triton 3.4, and gives another result under TRITON_INTERPRET=1",
    "not": "`not` of a block gives one Python truth value under TRITON_INTERPRET=1",
}


class PythonBooleanOnTensor(Rule):
    code, name = "TAC107", "python-boolean-on-tensor"
    summary = "A Python boolean operator combines blocks; Triton deprecates it and its interpreter gets it wrong."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for use in kernel.booleans:
            blocks = any(operand.is_block for operand in use.operands)
            if use.operator == "chained comparison":
                runtime = blocks or all(operand.shape == () and not operand.constexpr for operand in use.operands[1:2])
                if runtime and kernel.target.supports((3, 9)) != "all":
                    yield Hit(
                        use.node,
                        f"a chained comparison does not compile before Triton 3.9 (target {kernel.target.text})",
                        remedy=_REMEDIES[use.operator],
                    )
            elif blocks:
                yield Hit(
                    use.node,
                    _MESSAGES[use.operator],
                    remedy=_REMEDIES[use.operator],
                    severity=Severity.INFO if use.operator == "not" else None,
                )
