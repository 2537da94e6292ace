"""`and`, `or`, `not` and chained comparisons of blocks, written lane by lane."""

from __future__ import annotations

from itertools import pairwise

import libcst as cst

from tritonaudit.domains.facts import BooleanUse
from tritonaudit.domains.value import Value
from tritonaudit.finding import Edit, Fix
from tritonaudit.source.edits import inserted, parenthesised
from tritonaudit.source.tree import FunctionTree

_SIGNS = {cst.And: "&", cst.Or: "|"}


def lane_by_lane(tree: FunctionTree, use: BooleanUse) -> Fix | None:
    """The same with `&`, `|` or `~`, and `!= 0` on numbers; unsafe where it is not known which operands are numbers."""
    safe = all(operand.dtype is not None for operand in use.operands)
    node = use.node
    if isinstance(node, cst.BooleanOperation):
        sign = _SIGNS[type(node.operator)]
        left, right = use.operands
        edits = (
            *_condition(tree, node.left, left),
            Edit(tree.span(node.operator), sign),
            *_condition(tree, node.right, right),
        )
        return Fix(f"write `{sign}`, with its operands in parentheses", edits, safe)
    if isinstance(node, cst.UnaryOperation):
        (operand,) = use.operands
        edits = (Edit(tree.span(node.operator), "~"), *_condition(tree, node.expression, operand))
        return Fix("write `~`", edits, safe)
    if isinstance(node, cst.Comparison):
        return _unchained(tree, node)
    return None


def _condition(tree: FunctionTree, node: cst.BaseExpression, value: Value) -> tuple[Edit, ...]:
    """An operand of `&`, which works on the bits of numbers and rejects floats: these are compared with 0."""
    if value.dtype in (None, "i1"):
        return parenthesised(tree, node)
    if node.lpar:
        return inserted(tree.span(node), before="(", after=") != 0")
    if parenthesised(tree, node):
        return inserted(tree.span(node), before="((", after=") != 0)")
    return inserted(tree.span(node), before="(", after=" != 0)")


def _unchained(tree: FunctionTree, node: cst.Comparison) -> Fix | None:
    """`a < b < c` as two comparisons, if what stands between is simple enough to be written twice."""
    between = [target.comparator for target in node.comparisons[:-1]]
    if not all(isinstance(operand, (cst.Name, cst.Integer, cst.Float, cst.Attribute)) for operand in between):
        return None
    operands = [node.left, *(target.comparator for target in node.comparisons)]
    parts = [
        f"({tree.code(left)} {_operator(tree, target)} {tree.code(right)})"
        for (left, right), target in zip(pairwise(operands), node.comparisons, strict=True)
    ]
    text = " & ".join(parts)
    if "\n" in text or "#" in text:
        return None
    return Fix(f"write `{text}`", (Edit(tree.span(node), text),), safe=True)


def _operator(tree: FunctionTree, target: cst.ComparisonTarget) -> str:
    return tree.code(target.operator).strip()
