"""Which pointers of a kernel must point to integers: what is loaded from them is shifted, or multiplied as int8."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.source.outline import dotted_name


def integers_in(kernel: ast.FunctionDef, pointers: frozenset[str], sums: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Pointers with the dtype that the kernel's operations need.

    `sums` are the variables that are added up as int32; the operands of a matrix product that is added to one are int8.
    """
    values = _Values(kernel, pointers)
    for node in ast.walk(kernel):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift):
            is_nibble = isinstance(node.right, ast.Constant) and node.right.value == 4
            yield from ((pointer, "uint8" if is_nibble else "int32") for pointer in values.loaded_in(node.left))
        elif isinstance(node, (ast.Assign, ast.AugAssign)) and sums:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id in sums:
                yield from ((pointer, "int8") for operand in _multiplied(node) for pointer in values.loaded_in(operand))


def _multiplied(node: ast.stmt) -> Iterator[ast.expr]:
    """The operands of the matrix products in a statement."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and _called(inner) == "dot":
            yield from inner.args[:2]


class _Values:
    """The names of a kernel, with the pointers that they are and those that they were loaded from."""

    def __init__(self, kernel: ast.FunctionDef, pointers: frozenset[str]) -> None:
        self._addresses: dict[str, set[str]] = {name: {name} for name in pointers}
        self._loaded: dict[str, set[str]] = {}
        for _ in range(2):  # what a loop changes is read above the change
            for node in ast.walk(kernel):
                if isinstance(node, (ast.Assign, ast.AugAssign)):
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    if isinstance(target, ast.Name):
                        self._addresses.setdefault(target.id, set()).update(self._pointed_by(node.value))
                        self._loaded.setdefault(target.id, set()).update(self.loaded_in(node.value))

    def loaded_in(self, node: ast.expr) -> set[str]:
        """The pointers whose data an expression is computed from, conversions and arithmetic included."""
        if isinstance(node, ast.Call) and _called(node) == "load" and node.args:
            return self._pointed_by(node.args[0])
        if isinstance(node, ast.Name):
            return self._loaded.get(node.id, set())
        if isinstance(node, ast.Call) and not _is_conversion(node):
            return set()  # what a function makes of it may have another type
        return set().union(*(self.loaded_in(child) for child in _operands(node)))

    def _pointed_by(self, node: ast.expr) -> set[str]:
        """The pointers that an address is computed from, those that only its offsets were loaded from left out."""
        if isinstance(node, ast.Call) and _called(node) == "load":
            return set()
        if isinstance(node, ast.Name):
            return self._addresses.get(node.id, set())
        return set().union(*(self._pointed_by(child) for child in _operands(node)))


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Compare):
        return []
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def _is_conversion(node: ast.Call) -> bool:
    """Whether it is `x.to(dtype)` of a value, and not of its bits."""
    return isinstance(node.func, ast.Attribute) and node.func.attr == "to" and not node.keywords


def _called(node: ast.Call) -> str:
    return (dotted_name(node.func) or "").rpartition(".")[2]
