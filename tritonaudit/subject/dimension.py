"""The size of a dimension: a number, a name, or a sum, product or quotient of these such as `2 * hidden`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache

Dimension = str | int

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def check_dimension(dim: object) -> None:
    """Raises ValueError, with the remedy, for what is not a dimension."""
    if isinstance(dim, str):
        _parsed(dim)
    elif not isinstance(dim, int) or isinstance(dim, bool) or dim < 0:
        raise ValueError(
            f"{dim!r} is not a dimension: write a name, a number of 0 or more, or one such as '2 * hidden'"
        )


def names_in(dim: Dimension) -> tuple[str, ...]:
    """The names that a dimension is made of."""
    if isinstance(dim, int):
        return ()
    return tuple(dict.fromkeys(node.id for node in ast.walk(_parsed(dim)) if isinstance(node, ast.Name)))


def size_of(dim: Dimension, sizes: Mapping[str, int]) -> int:
    """The size of a dimension where its names have these. Raises KeyError for a name that has none."""
    return dim if isinstance(dim, int) else _size(_parsed(dim), sizes)


@cache
def _parsed(text: str) -> ast.expr:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        node = None
    if node is None or not _is_arithmetic(node):
        raise ValueError(f"{text!r} is not a dimension: write a name, or names and numbers with + - * //")
    return node


def _is_arithmetic(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Constant():
            return type(node.value) is int
        case ast.UnaryOp(op=ast.USub()):
            return _is_arithmetic(node.operand)
        case ast.BinOp():
            return type(node.op) in _OPERATORS and _is_arithmetic(node.left) and _is_arithmetic(node.right)
    return False


def _size(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Name():
            return sizes[node.id]
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp():
            return -_size(node.operand, sizes)
        case ast.BinOp():
            return _OPERATORS[type(node.op)](_size(node.left, sizes), _size(node.right, sizes))
    raise AssertionError(node)  # _parsed lets nothing else through
