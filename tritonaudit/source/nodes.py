"""The nodes of a syntax tree by their kinds, found in one walk that all questions share."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


_LEAVES = frozenset(("ctx", "id", "attr", "arg", "op", "ops", "kind", "lineno", "type_comment", "conversion"))
"""Fields of strings and numbers, and those that say how a name is used and which operator stands there."""
_NO_FIELDS = (ast.Constant, ast.Global, ast.Nonlocal)
_fields: dict[type, tuple[str, ...]] = {}
"""Of each kind of node, those of its fields that may hold others."""


class Nodes:
    """The nodes below a root and the root itself; operators, and those that say how a name is used, are not kept."""

    def __init__(self, root: ast.AST) -> None:
        self._by_kind: dict[type, list[ast.AST]] = {}
        found = [root]
        for node in found:  # which grows while it is read: the outer ones come first
            kind = type(node)
            fields = _fields.get(kind)
            if fields is None:
                fields = _fields[kind] = _fields_of(kind)
            for name in fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    found += [part for part in value if isinstance(part, ast.AST)]
                elif isinstance(value, ast.AST):
                    found.append(value)
            kept = self._by_kind.get(kind)
            if kept is None:
                self._by_kind[kind] = [node]
            else:
                kept.append(node)

    def of(self, kind: type[Node]) -> list[Node]:
        """The nodes of exactly this kind, the outer ones first."""
        return self._by_kind.get(kind, [])  # type: ignore[return-value]  # by the key

    def hold(self, node: ast.AST) -> bool:
        """Whether it is one of them."""
        return id(node) in self._ids

    @cached_property
    def _ids(self) -> frozenset[int]:
        return frozenset(id(node) for nodes in self._by_kind.values() for node in nodes)

    @cached_property
    def dead(self) -> frozenset[int]:
        """The ids of the statements of a function that do nothing: bare names, and numbers for names nobody reads.

        A function holds such while a line of it is being typed.
        """
        if not _READ_ALL_NAMES.isdisjoint(self.calls_of):
            return frozenset()
        bare = {id(node): node.value for node in self.of(ast.Expr) if isinstance(node.value, ast.Name)}
        if self.of(ast.ClassDef):  # what its body sets, others read
            return frozenset(bare)
        names = {id(node) for node in bare.values()}
        read = {node.id for node in self.of(ast.Name) if not isinstance(node.ctx, ast.Store) and id(node) not in names}
        read |= {node.target.id for node in self.of(ast.AugAssign) if isinstance(node.target, ast.Name)}
        declared: list[ast.Global | ast.Nonlocal] = [*self.of(ast.Global), *self.of(ast.Nonlocal)]
        read |= {name for node in declared for name in node.names}
        return frozenset((*bare, *(id(node) for node in self.of(ast.Assign) if _sets_numbers(node, read))))

    @cached_property
    def calls_of(self) -> dict[str, list[ast.Call]]:
        """The calls by the last name of what they call."""
        found: dict[str, list[ast.Call]] = {}
        for call in self.of(ast.Call):
            name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
            if name is not None:
                found.setdefault(name, []).append(call)
        return found


_READ_ALL_NAMES = frozenset(("locals", "globals", "vars", "eval", "exec"))
_EXACT = (ast.Add, ast.Sub, ast.Mult)


def _sets_numbers(node: ast.Assign, read: set[str]) -> bool:
    """Whether it gives names that are not `read` a number that its text shows."""
    targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
    return len(targets) == len(node.targets) and read.isdisjoint(targets) and _is_number(node.value)


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _EXACT) and _is_number(node.left) and _is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_number(node.operand)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    return () if issubclass(kind, _NO_FIELDS) else tuple(name for name in kind._fields if name not in _LEAVES)


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def statements_in(root: ast.AST) -> list[ast.AST]:
    """The root and the statements below it, those of inner functions too, the outer ones first."""
    found = [root]
    for node in found:
        for name in _BLOCKS:
            found.extend(getattr(node, name, ()))
    return found


def spans(node: ast.stmt | ast.expr, line: int) -> bool:
    """Whether the line is one of the node's."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def names_in(node: ast.AST) -> set[str]:
    """The names that stand in it."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def stored_in(loop: ast.For | ast.While) -> set[str]:
    """The names that the body of a loop may give a value."""
    return {
        inner.id
        for statement in loop.body
        for inner in ast.walk(statement)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }
