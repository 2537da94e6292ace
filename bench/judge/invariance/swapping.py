"""`swapped`: operands of commutative operators in the other order, and comparisons turned around."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bench.judge.invariance.changes import Change, Edit, replaced
from bench.judge.invariance.source import Source

_TURNED = {ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
_COMMUTE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_NO_NUMBERS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr, ast.ListComp, ast.GeneratorExp)
_TIGHT = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call)


def swapped(source: Source) -> Edit:
    """`a + b` becomes `b + a` in kernels, and `a < b` becomes `b > a` in all functions."""
    changes = [
        change
        for function in source.functions
        for statement in function.body
        for change in _in(source, statement, source.is_kernel(function))
    ]
    return Edit(tuple(changes))


def _in(source: Source, node: ast.AST, is_kernel: bool) -> Iterator[Change]:
    """The changes of the outermost operations below a node; those in them are part of these."""
    if isinstance(node, (ast.JoinedStr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    if _operator(node, is_kernel) is not None:
        yield replaced(*source.span(node), _turned(source, node, is_kernel))
        return
    for child in ast.iter_child_nodes(node):
        yield from _in(source, child, is_kernel)


def _turned(source: Source, node: ast.AST, is_kernel: bool) -> str:
    """The text of a node, with every operation in it turned."""
    start, end = source.span(node)
    if isinstance(node, ast.JoinedStr):
        return source.text[start:end]
    if (operator := _operator(node, is_kernel)) is not None and isinstance(node, (ast.BinOp, ast.Compare)):
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.left, node.comparators[0])
        (begin, left_end), (right_start, stop) = source.span(left), source.span(right)
        first, last = (_operand(source, one, is_kernel) for one in (right, left))
        between = _with_operator(source.text[left_end:right_start], operator)
        return source.text[start:begin] + first + between + last + source.text[stop:end]
    pieces: list[str] = []
    done = start
    for child in sorted(_placed(node), key=lambda one: source.span(one)):
        begin, stop = source.span(child)
        pieces += [source.text[done:begin], _turned(source, child, is_kernel)]
        done = stop
    return "".join([*pieces, source.text[done:end]])


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The nearest nodes below one that have a place."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "end_col_offset"):
            yield child
        else:
            yield from _placed(child)


def _operand(source: Source, node: ast.expr, is_kernel: bool) -> str:
    text = _turned(source, node, is_kernel)
    return text if isinstance(node, _TIGHT) else f"({text})"


def _with_operator(between: str, operator: tuple[str, str]) -> str:
    old, new = operator
    return between.replace(old, new, 1)


def _operator(node: ast.AST, is_kernel: bool) -> tuple[str, str] | None:
    """How an operation that may be turned is spelled, and how it is then; None for what may not."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _TURNED:
        is_safe = not (_calls(node.left) and _calls(node.comparators[0]))
        return (_SPELLED[type(node.ops[0])], _TURNED[type(node.ops[0])]) if is_safe else None
    if isinstance(node, ast.BinOp) and is_kernel and isinstance(node.op, _COMMUTE):
        sides = (node.left, node.right)
        is_safe = all(_is_number(side) for side in sides) and not all(_may_act(side) for side in sides)
        return ("", "") if is_safe else None
    return None


_SPELLED = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def _is_number(node: ast.expr) -> bool:
    """Whether it is no sequence, of which the order of two would count."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    return not is_text and not isinstance(node, _NO_NUMBERS)


def _calls(node: ast.expr) -> bool:
    return any(isinstance(one, (ast.Call, ast.NamedExpr, ast.Await, ast.Yield)) for one in ast.walk(node))


def _may_act(node: ast.expr) -> bool:
    """Whether a call in it may do more than give a value."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    return any(not ast.unparse(call.func).startswith("tl.") or _acts(ast.unparse(call.func)) for call in calls)


def _acts(name: str) -> bool:
    return any(word in name for word in ("atomic", "store", "asm", "barrier", "rand", "print"))
