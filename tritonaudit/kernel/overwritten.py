"""What a wrapper computes for a launch and then overwrites with a number, unread."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch


@dataclass(frozen=True, eq=False)
class Overwritten:
    """`name`, which a launch is passed, is `computed`, and set to a number at `node` before anything reads it."""

    name: str
    computed: ast.Assign
    node: ast.Assign


def overwritten_settings(launches: Sequence[Launch]) -> Iterator[Overwritten]:
    """The settings of the launches that are computed for nothing, each once."""
    seen: set[int] = set()
    for launch in launches:
        if launch.wrapper is None:
            continue
        for argument in launch.arguments.values():
            if not isinstance(argument, ast.Name) or not _is_number(launch.definition(argument)):
                continue
            if sum(_sets(assign, argument.id) for assign in launch.nodes.of(ast.Assign)) < 2:
                continue  # as nearly always: to look for what reads it is dear
            found = _dead(launch.wrapper.body, argument.id)
            if found is not None and id(found.node) not in seen:
                seen.add(id(found.node))
                yield found


def _dead(body: list[ast.stmt], name: str) -> Overwritten | None:
    """The first assignment of the body that nothing reads before the next one sets a number."""
    computed: ast.Assign | None = None
    for statement in body:
        sets = _sets(statement, name)
        if sets and computed is not None and isinstance(statement, ast.Assign) and _is_number(statement.value):
            return Overwritten(name, computed, statement)
        if sets and isinstance(statement, ast.Assign) and _is_computed(statement.value):
            computed = statement
        elif any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement)):
            computed = None
    return None


def _sets(statement: ast.stmt, name: str) -> bool:
    """`name = …`, and nothing else set with it."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and target.id == name


def _is_computed(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) for inner in ast.walk(node)) and not isinstance(node, ast.Name)


def _is_number(node: ast.expr) -> bool:
    """A number, or one written as a product of numbers."""
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) is int
