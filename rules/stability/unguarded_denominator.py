"""TAN106: a division by, or a logarithm of, something that is 0 for data that occur."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.vanishing import Measure, divisors
from tritonaudit.rule import Hit, Rule

_WHEN = {
    Measure.LARGEST: "which is 0 where they all are",
    Measure.SQUARES: "which is 0 where they all are",
    Measure.COUNT: "which is 0 where none does",
    Measure.PARTS: "which is 0 where all parts are empty",
    Measure.SUM: "which is 0 where they all are",
}
_REMEDY = {
    Measure.LARGEST: "keep it above 0: `tl.maximum(…, 1e-12)`",
    Measure.SQUARES: "add an epsilon before the root or the division",
    Measure.COUNT: "divide by at least 1: `tl.maximum(…, 1)`",
    Measure.PARTS: "keep it above 0: `tl.maximum(…, 1e-12)`",
    Measure.SUM: "keep it away from 0: `tl.maximum(…, 1e-12)`, or select with `tl.where`",
}
_SHORT = 40
_CONSEQUENCE = {
    "Divide": "dividing by it gives nan or inf",
    "rsqrt": "its inverse root is inf",
    "log": "its logarithm is -inf",
    "log2": "its logarithm is -inf",
}


class UnguardedDenominator(Rule):
    code, name = "TAN106", "unguarded-denominator"
    summary = "A divisor, or the argument of a logarithm, is 0 for data that occur."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for divisor in divisors(kernel):
            yield Hit(
                divisor.node,
                f"{_spelled(divisor.node)} {divisor.measure.value}, {_WHEN[divisor.measure]}: "
                f"{_CONSEQUENCE[divisor.operation]}",
                remedy=_REMEDY[divisor.measure],
                confidence=Confidence.LOW if divisor.measure is Measure.SUM or divisor.swallowed else None,
                related=((divisor.made, "it is computed here"),),
            )


def _spelled(node: cst.CSTNode) -> str:
    """What is divided by, or the argument, as the text has it, where that is short."""
    operand: cst.CSTNode | None = None
    if isinstance(node, cst.BinaryOperation):
        operand = node.right
    elif isinstance(node, cst.AugAssign):
        operand = node.value
    elif isinstance(node, cst.Call) and node.args:
        operand = node.args[-1].value
    text = "" if operand is None else cst.Module([]).code_for_node(operand)
    return f"`{text}` is made of" if 0 < len(text) <= _SHORT and "\n" not in text else "this operand is made of"
