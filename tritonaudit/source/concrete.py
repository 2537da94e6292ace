"""The LibCST node that a node of Python's own syntax tree is, for both are read from one text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

Pairs = Iterator[tuple[ast.AST, cst.CSTNode]]


def concrete(root: ast.FunctionDef, tree: cst.FunctionDef) -> dict[int, cst.CSTNode]:
    """Of each statement and expression of a function, by its id, the node in the other tree."""
    found: dict[int, cst.CSTNode] = {id(root): tree}
    stack = list(_statements(root.body, tree.body))
    while stack:
        node, other = stack.pop()
        found[id(node)] = other
        below = _BELOW.get(type(node))
        if below is not None:
            stack.extend(below(node, other))
    return found


def _statements(body: Sequence[ast.stmt], suite: Any) -> Pairs:
    flat: list[cst.CSTNode] = []
    for one in suite.body if suite is not None else ():
        flat.extend(one.body if isinstance(one, cst.SimpleStatementLine) else [one])
    yield from zip(body, flat, strict=False)


def _given(*pairs: tuple[ast.AST | None, Any]) -> Pairs:
    for node, other in pairs:
        if node is not None and isinstance(other, cst.CSTNode):
            yield node, other


def _assign(node: ast.Assign, other: Any) -> Pairs:
    yield from zip(node.targets, (one.target for one in other.targets), strict=False)
    yield node.value, other.value


def _match(node: ast.Match, other: Any) -> Pairs:
    yield node.subject, other.subject
    for case, its in zip(node.cases, other.cases, strict=False):
        yield from _given((case.guard, its.guard))
        yield from _statements(case.body, its.body)


def _annotated(node: ast.AnnAssign, other: Any) -> Pairs:
    return _given((node.target, other.target), (node.value, other.value))


def _target_and_value(node: Any, other: Any) -> Pairs:
    return _given((node.target, other.target), (node.value, other.value))


def _value(node: Any, other: Any) -> Pairs:
    return _given((node.value, getattr(other, "value", None)))


def _assert(node: ast.Assert, other: Any) -> Pairs:
    return _given((node.test, other.test), (node.msg, other.msg))


def _if(node: ast.If, other: Any) -> Pairs:
    yield node.test, other.test
    yield from _statements(node.body, other.body)
    if isinstance(other.orelse, cst.If):
        yield from zip(node.orelse, [other.orelse], strict=False)
    elif other.orelse is not None:
        yield from _statements(node.orelse, other.orelse.body)


def _for(node: ast.For, other: Any) -> Pairs:
    yield from ((node.target, other.target), (node.iter, other.iter))
    yield from _statements(node.body, other.body)


def _while(node: ast.While, other: Any) -> Pairs:
    yield node.test, other.test
    yield from _statements(node.body, other.body)


def _with(node: ast.With, other: Any) -> Pairs:
    for item, its in zip(node.items, other.items, strict=False):
        yield item.context_expr, its.item
    yield from _statements(node.body, other.body)


def _try(node: ast.Try, other: Any) -> Pairs:
    yield from _statements(node.body, other.body)
    if other.orelse is not None:
        yield from _statements(node.orelse, other.orelse.body)
    if other.finalbody is not None:
        yield from _statements(node.finalbody, other.finalbody.body)


def _two_sides(node: ast.BinOp, other: Any) -> Pairs:
    yield from ((node.left, other.left), (node.right, other.right))


def _boolean(node: ast.BoolOp, other: Any) -> Pairs:
    """`a and b and c` is flat in one tree, and in the other nested to the left."""
    for value in reversed(node.values[1:]):
        yield value, other.right
        other = other.left
    yield node.values[0], other


def _compare(node: ast.Compare, other: Any) -> Pairs:
    yield node.left, other.left
    yield from zip(node.comparators, (one.comparator for one in other.comparisons), strict=False)


def _unary(node: ast.UnaryOp, other: Any) -> Pairs:
    yield node.operand, other.expression


def _call(node: ast.Call, other: Any) -> Pairs:
    yield node.func, other.func
    positional = [arg for arg in other.args if arg.keyword is None and arg.star != "**"]
    named = [arg for arg in other.args if arg.keyword is not None or arg.star == "**"]
    for argument, its in zip(node.args, positional, strict=False):
        yield argument, its.value
        if isinstance(argument, ast.Starred):
            yield argument.value, its.value
    for keyword, its in zip(node.keywords, named, strict=False):
        yield keyword, its
        yield keyword.value, its.value


def _subscript(node: ast.Subscript, other: Any) -> Pairs:
    yield node.value, other.value
    parts = [one.slice for one in other.slice]
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) and len(parts) > 1 else [node.slice]
    for one, its in zip(nodes, parts, strict=False):
        if isinstance(its, cst.Index):
            yield one, its.value


def _conditional(node: ast.IfExp, other: Any) -> Pairs:
    yield from ((node.test, other.test), (node.body, other.body), (node.orelse, other.orelse))


def _elements(node: ast.Tuple | ast.List, other: Any) -> Pairs:
    yield from zip(node.elts, (one.value for one in getattr(other, "elements", ())), strict=False)


_BELOW: dict[type[ast.AST], Callable[[Any, Any], Pairs]] = {
    ast.Match: _match,
    ast.Assign: _assign,
    ast.AugAssign: _target_and_value,
    ast.AnnAssign: _annotated,
    ast.NamedExpr: _target_and_value,
    ast.Expr: _value,
    ast.Return: _value,
    ast.Attribute: _value,
    ast.Assert: _assert,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.With: _with,
    ast.Try: _try,
    ast.BinOp: _two_sides,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.UnaryOp: _unary,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.IfExp: _conditional,
    ast.Tuple: _elements,
    ast.List: _elements,
}
