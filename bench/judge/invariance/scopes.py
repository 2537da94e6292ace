"""The names that a function binds itself, and those that something in it makes hard to speak of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from bench.judge.invariance.source import Function

_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_SEES_NAMES = frozenset(
    ("locals", "vars", "eval", "exec", "globals", "super", "currentframe", "_getframe", "__class__")
)


@dataclass(frozen=True)
class Scope:
    """The names of a function: its own, and those of them that are bound in scopes in it or by other than names."""

    own: frozenset[str]
    unclear: frozenset[str]

    @property
    def plain(self) -> frozenset[str]:
        """The names that stand for one variable wherever they stand in the function."""
        return self.own - self.unclear


def scope(function: Function) -> Scope:
    """The names of a function, its parameters among them."""
    own = {argument.arg for argument in parameters(function)}
    unclear: set[str] = set()
    for statement in function.body:
        _gather(statement, own, unclear)
    return Scope(frozenset(own), frozenset(unclear))


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters, in their order."""
    args = function.args
    several = [one for one in (args.vararg, args.kwarg) if one is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *several]


def sees_names(node: ast.AST) -> bool:
    """Whether something in it may look at the names of variables while it runs."""
    return any(name in _SEES_NAMES for name in _names_and_attributes(node))


def loaded(node: ast.AST) -> set[str]:
    """The names that are read below a node."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def stored(node: ast.AST) -> set[str]:
    """The names that are bound or deleted below a node, in whatever scope."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    return found | set(_bound_otherwise(node))


def _names_and_attributes(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


def _gather(node: ast.AST, own: set[str], unclear: set[str]) -> None:
    unclear.update(_bound_here_otherwise(node))
    if isinstance(node, ast.JoinedStr):  # whose parts have no places of their own before Python 3.12
        unclear.update(loaded(node))
    if isinstance(node, _SCOPES):
        unclear.update(stored(node))
        for text in (one for one in ast.walk(node) if isinstance(one, ast.JoinedStr)):
            unclear.update(loaded(text))
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        own.add(node.id)
    for child in ast.iter_child_nodes(node):
        _gather(child, own, unclear)


def _bound_otherwise(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        yield from _bound_here_otherwise(one)


def _bound_here_otherwise(one: ast.AST) -> Iterator[str]:
    if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield one.name
    elif isinstance(one, ast.arg):
        yield one.arg
    elif isinstance(one, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in one.names)
    elif isinstance(one, (ast.Global, ast.Nonlocal)):
        yield from one.names
    elif isinstance(one, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and one.name:
        yield one.name
