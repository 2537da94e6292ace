"""Sizes at which code itself does something else: integers that it compares with, as its source has them.

Read, never executed; imports neither torch nor triton.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_LEAST = 17
"""Smaller ones are numbers of dimensions, bytes or heads more often than sizes; these are tried anyway."""
_MOST_BITS = 64
_MOST_BYTES = 1 << 20
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}


def thresholds(paths: Iterable[str | Path], most: int) -> tuple[int, ...]:
    """The integers up to `most` that the files compare anything with, in the order in which they come."""
    found: dict[int, None] = {}
    for path in dict.fromkeys(map(Path, paths)):
        with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            if not path.is_file() or path.stat().st_size > _MOST_BYTES:  # whoever is judged may have named it
                continue
            tree = ast.parse(path.read_bytes())
            found |= dict.fromkeys(number for number in _compared(tree) if _LEAST <= number <= most)
    return tuple(found)


def _compared(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from _integers(side)


def _integers(node: ast.AST) -> Iterator[int]:
    """Those that an expression is, or is made of."""
    value = _value(node)
    if value is not None:
        yield value
        return
    for child in ast.iter_child_nodes(node):
        yield from _integers(child)


def _value(node: ast.AST) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left), _value(node.right)
        if left is None or right is None or abs(left) >> _MOST_BITS or right < 0:
            return None
        if isinstance(node.op, (ast.Pow, ast.LShift)) and right > _MOST_BITS:
            return None
        with suppress(ArithmeticError):
            return _OPERATORS[type(node.op)](left, right)
    return None
