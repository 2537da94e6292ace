"""TAN107: a matrix product of float32 that says nothing of its precision is computed in TF32."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule

_CHOICES = ("input_precision", "allow_tf32", "out_dtype")


class ImplicitTf32(Rule):
    code, name = "TAN107", "implicit-tf32"
    summary = "A product of float32 blocks is computed in TF32, and nothing says that it may be."
    severity, confidence, since = Severity.INFO, Confidence.LOW, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        products = list(_products(kernel))
        if products:
            yield Hit(
                products[0],
                "both operands are float32, of which `tl.dot` by default keeps 10 bits of mantissa (TF32)",
                remedy='say which is meant: `input_precision="ieee"`, "tf32x3" or "tf32"',
                related=tuple((node, "here too") for node in products[1:]),
            )


def _products(kernel: KernelFlow) -> Iterator[cst.Call]:
    """The products of certainly float32 blocks that choose no precision."""
    for step in kernel.steps:
        if step.operation == "dot" and len(step.operands) >= 2 and isinstance(step.node, cst.Call):
            left, right = step.operands[:2]
            if left.dtype == right.dtype == "fp32" and not _chooses(step.node):
                yield step.node


def _chooses(call: cst.Call) -> bool:
    """Whether the call says anything of its precision, or passes what cannot be seen."""
    positional = [argument for argument in call.args if argument.keyword is None]
    named = {argument.keyword.value for argument in call.args if argument.keyword is not None}
    return len(positional) > 3 or any(a.star for a in call.args) or not named.isdisjoint(_CHOICES)
