"""`and`, `or`, `not` and chained comparisons of blocks, written lane by lane."""

from __future__ import annotations

from itertools import pairwise

import libcst as cst

from tritonaudit.finding import Edit, Fix
from tritonaudit.flow.facts import BooleanUse
from tritonaudit.source.edits import parenthesised
from tritonaudit.source.tree import FunctionTree

_SIGNS = {cst.And: "&", cst.Or: "|"}


def lane_by_lane(tree: FunctionTree, use: BooleanUse) -> Fix | None:
    """The same with `&`, `|` or `~`; safe where every operand is a condition, for those work on the bits of others."""
    safe = all(operand.dtype == "i1" for operand in use.operands)
    node = use.node
    if isinstance(node, cst.BooleanOperation):
        sign = _SIGNS[type(node.operator)]
        edits = (
            *parenthesised(tree, node.left),
            Edit(tree.span(node.operator), sign),
            *parenthesised(tree, node.right),
        )
        return Fix(f"write `{sign}`, with its operands in parentheses", edits, safe)
    if isinstance(node, cst.UnaryOperation):
        edits = (Edit(tree.span(node.operator), "~"), *parenthesised(tree, node.expression))
        return Fix("write `~`", edits, safe)
    if isinstance(node, cst.Comparison):
        return _unchained(tree, node)
    return None


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
