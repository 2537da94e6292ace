"""Comparisons of a pointer's own type with the dtype of a number, which are never true."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.value import DTYPES
from tritonaudit.source.nodes import names_in

_LANGUAGE = "triton.language."


@dataclass(frozen=True, eq=False)
class PointerCompared:
    """`comparison` asks whether the type of `pointer` is `dtype`, as written."""

    comparison: ast.Compare
    pointer: str
    dtype: str


def pointers_compared(flow: KernelFlow) -> Iterator[PointerCompared]:
    """The comparisons of `pointer.dtype`, where the kernel loads from the pointer or stores to it."""
    for comparison in flow.function.nodes.of(ast.Compare):
        if len(comparison.ops) != 1:
            continue
        sides = (comparison.left, comparison.comparators[0])
        for side, other in (sides, sides[::-1]):
            name, dtype = _type_of(side), _dtype(flow, other)
            if name is not None and dtype is not None and _is_pointer(flow, name):
                yield PointerCompared(comparison, name, dtype)


def _type_of(node: ast.expr) -> str | None:
    """`x` of `x.dtype`."""
    is_type = isinstance(node, ast.Attribute) and node.attr in ("dtype", "type") and isinstance(node.value, ast.Name)
    return node.value.id if is_type else None  # type: ignore[attr-defined]  # by the test


def _dtype(flow: KernelFlow, node: ast.expr) -> str | None:
    """A dtype of numbers, or the first of several that are listed."""
    if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        node = node.elts[0]
    origin = flow.module.origin_of(node)
    is_dtype = origin.startswith(_LANGUAGE) and origin.removeprefix(_LANGUAGE) in DTYPES
    return ast.unparse(node) if is_dtype else None


def _is_pointer(flow: KernelFlow, name: str) -> bool:
    """Whether memory is accessed by the parameter, which is no descriptor, and the name stays its."""
    if not any(access.pointer.origin is not None and access.pointer.origin.name == name for access in flow.accesses):
        return False
    methods = any(_is_method_of(call.func, name) for call in flow.function.nodes.of(ast.Call))
    assigned = [target for assign in flow.function.nodes.of(ast.Assign) for target in assign.targets]
    return not methods and not any(name in names_in(target) for target in assigned)


def _is_method_of(node: ast.expr, name: str) -> bool:
    """`name.load`, which a descriptor has and a pointer does not."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
