"""Which assignment gives a name its value at a place of a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.finding import Span


class Unclear(Exception):
    """Several assignments may give the value."""


@dataclass(frozen=True)
class _Step:
    """A statement on the way to a place, its number in its block, and the names that the block itself binds."""

    block: Sequence[ast.stmt]
    number: int
    bound: frozenset[str]


def same_value(function: ast.FunctionDef, expression: ast.expr, one: Span, other: Span) -> bool:
    """Whether each name of the expression has one value, of the same assignment, at both places."""
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    try:
        return all(_assignment(function, name, one) is _assignment(function, name, other) for name in names)
    except Unclear:
        return False


def _assignment(function: ast.FunctionDef, name: str, place: Span) -> object:
    """The statement or block that gives the name its value there, None if nothing in the function. Raises Unclear."""
    if not any(_binds(statement, name) for statement in function.body):
        return None
    for step in reversed(list(_way(function, place))):
        if _binds(step.block[step.number], name) and not isinstance(step.block[step.number], _SIMPLE):
            raise Unclear
        for statement in reversed(step.block[: step.number]):
            if _binds(statement, name):
                if isinstance(statement, _SIMPLE):
                    return statement
                raise Unclear
        if name in step.bound:
            return step.block
    return None


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def _way(function: ast.FunctionDef, place: Span) -> Iterator[_Step]:
    """From the function's body down to the statement that holds the place."""
    block: Sequence[ast.stmt] | None = function.body
    bound: frozenset[str] = frozenset()
    while block:
        number = next((i for i, node in enumerate(block) if node.lineno <= place.line <= (node.end_lineno or 0)), None)
        if number is None:
            return
        yield _Step(block, number, bound)
        statement = block[number]
        bound = frozenset(_stored(statement.target)) if isinstance(statement, ast.For) else frozenset()
        blocks = (getattr(statement, name, None) for name in ("body", "orelse"))
        block = next((inner for inner in blocks if inner and _holds(inner, place)), None)


def _holds(block: Sequence[ast.stmt], place: Span) -> bool:
    return block[0].lineno <= place.line <= (block[-1].end_lineno or 0)


def _binds(node: ast.AST, name: str) -> bool:
    return name in _stored(node)


def _stored(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
