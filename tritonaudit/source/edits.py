"""Edits of a function's text, made from the nodes of its tree."""

from __future__ import annotations

import libcst as cst

from tritonaudit.finding import Edit, Span
from tritonaudit.source.tree import FunctionTree

_ATOMS = (cst.Name, cst.Call, cst.Attribute, cst.Subscript, cst.Integer, cst.Float, cst.Tuple, cst.List)


def inserted(span: Span, *, before: str = "", after: str = "") -> tuple[Edit, ...]:
    """Text put before and after a place."""
    start = Span(span.line, span.column, span.line, span.column)
    end = Span(span.end_line, span.end_column, span.end_line, span.end_column)
    return tuple(Edit(place, text) for place, text in ((start, before), (end, after)) if text)


def with_argument(tree: FunctionTree, call: cst.Call, argument: str) -> tuple[Edit, ...]:
    """The call with one more argument, the last of those it has; none where it has none."""
    return inserted(tree.span(call.args[-1]), after=f", {argument}") if call.args else ()


def parenthesised(tree: FunctionTree, node: cst.BaseExpression) -> tuple[Edit, ...]:
    """The expression as an operand of any operator: in parentheses where it needs them and has none."""
    if node.lpar or isinstance(node, _ATOMS):
        return ()
    return inserted(tree.span(node), before="(", after=")")


def as_operand(tree: FunctionTree, argument: cst.Arg, suffix: str) -> tuple[Edit, ...]:
    """The argument's value with an attribute or a call of one after it, in parentheses where it needs them."""
    value = argument.value
    if value.lpar or isinstance(value, _ATOMS):
        return inserted(tree.span(argument), after=suffix)
    return inserted(tree.span(value), before="(", after=f"){suffix}")


def keyword_argument(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument that is given by this name."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)
