"""Which arms of constexpr conditions are compiled for a size that a launch passes."""

from __future__ import annotations

import ast

from tritonaudit.domains.facts import Path
from tritonaudit.ir.arithmetic import FOLDS
from tritonaudit.source.nodes import names_in


def comes_to(path: Path, parameter: str, size: int) -> bool:
    """Whether what has this path is compiled where the parameter is that size, as far as is known.

    A size of 0 says that something is not there: what stands under any constexpr condition may ask for that.
    """
    for guard in path:
        if not guard.constexpr:
            continue
        condition = ast.parse(guard.condition, mode="eval").body
        if parameter in names_in(condition):
            if _truth(condition, parameter, size) is not guard.arm:
                return False
        elif size <= 0:
            return False
    return True


def _truth(node: ast.expr, name: str, size: int) -> bool | None:
    """The condition's truth value; None where it depends on more than the name."""
    if isinstance(node, ast.BoolOp):
        values = [_truth(value, name, size) for value in node.values]
        decisive = isinstance(node.op, ast.Or)
        return decisive if decisive in values else None if None in values else not decisive
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = _truth(node.operand, name, size)
        return None if value is None else not value
    number = _number(node, name, size)
    return None if number is None else bool(number)


def _number(node: ast.expr, name: str, size: int) -> int | None:
    if isinstance(node, ast.Name):
        return size if node.id == name else None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _folded(node.ops[0], _number(node.left, name, size), _number(node.comparators[0], name, size))
    if isinstance(node, ast.BinOp):
        return _folded(node.op, _number(node.left, name, size), _number(node.right, name, size))
    return None


def _folded(operation: ast.AST, left: int | None, right: int | None) -> int | None:
    fold = FOLDS.get(type(operation))
    if fold is None or left is None or right is None:
        return None
    try:
        result = fold(left, right)
    except ZeroDivisionError:
        return None
    return result if isinstance(result, int) else None
