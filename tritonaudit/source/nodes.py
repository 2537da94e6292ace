"""The nodes of a syntax tree by their kinds, found in one walk that all questions share."""

from __future__ import annotations

import ast
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


class Nodes:
    """The nodes below a root and the root itself; those that say how a name is used are not kept."""

    def __init__(self, root: ast.AST) -> None:
        self._by_kind: dict[type, list[ast.AST]] = {}
        found = [root]
        for node in found:  # which grows while it is read: the outer ones come first
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    if name != "ctx":
                        found.append(value)
                elif isinstance(value, list):
                    found.extend(part for part in value if isinstance(part, ast.AST))
            self._by_kind.setdefault(type(node), []).append(node)

    def of(self, kind: type[Node]) -> list[Node]:
        """The nodes of exactly this kind, the outer ones first."""
        return self._by_kind.get(kind, [])  # type: ignore[return-value]  # by the key


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def statements_in(root: ast.AST) -> list[ast.AST]:
    """The root and the statements below it, those of inner functions too, the outer ones first."""
    found = [root]
    for node in found:
        for name in _BLOCKS:
            found.extend(getattr(node, name, ()))
    return found


def names_in(node: ast.AST) -> set[str]:
    """The names that stand in it."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
