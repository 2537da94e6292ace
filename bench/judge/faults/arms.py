"""Which arms of a function no call went through, though what a statement gives may mean something there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from bench.judge.faults.mutants import Target

Lines = frozenset[int]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)


def unseen_arms(text: str, target: Target, lines: Collection[int], calls: Sequence[Collection[int]]) -> Iterator[int]:
    """The lines of branches of which one arm was gone through in no call, of each of which the lines are given.

    Of those only that read what comes of the statement at `lines`, or set what is used together with that. A branch
    that raises is none: a call that goes there has no result.
    """
    function = _function(text, target)
    body = _lines(function.body)
    ran = [one for one in map(frozenset, calls) if one & body]
    derived, beside = _flow(function, frozenset(lines))
    for branch in ast.walk(function):
        if not isinstance(branch, ast.If) or _raises(branch.body) or _raises(branch.orelse):
            continue
        then, other = _lines(branch.body), _lines(branch.orelse)
        is_then = [bool(one & then) for one in ran]
        is_other = [bool(one & other) if other else not went for one, went in zip(ran, is_then, strict=True)]
        if not (any(is_then) and any(is_other)) and _matters(branch, derived, beside):
            yield branch.lineno


@lru_cache(maxsize=32)
def _function(text: str, target: Target) -> ast.FunctionDef | ast.AsyncFunctionDef:
    named = [one for one in ast.walk(ast.parse(text)) if isinstance(one, _FUNCTIONS) and one.name == target.name]
    return min(named, key=lambda one: abs(one.lineno - target.line))


def _flow(function: ast.AST, lines: Lines) -> tuple[set[str], set[str]]:
    """The names of what is computed from what the statement gives, and of all that is used in the same statements."""
    simple = [one for one in ast.walk(function) if isinstance(one, _SIMPLE)]
    derived = {name for one in simple if one.lineno in lines for name in _set(one)}
    while more := {name for one in simple if _read(one) & derived for name in _set(one)} - derived:
        derived |= more
    beside = {name for one in simple if _read(one) & derived for name in _read(one)}
    return derived, derived | beside


def _matters(branch: ast.If, derived: set[str], beside: set[str]) -> bool:
    inner = [one for statement in (*branch.body, *branch.orelse) for one in ast.walk(statement)]
    return any(isinstance(one, _SIMPLE) and (_read(one) & derived or _set(one) & beside) for one in inner)


def _read(statement: ast.stmt) -> set[str]:
    named = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    return named | (_set(statement) if isinstance(statement, ast.AugAssign) else set())


def _set(statement: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _raises(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _lines(body: Sequence[ast.stmt]) -> Lines:
    return frozenset(line for one in body for line in range(one.lineno, (one.end_lineno or one.lineno) + 1))
