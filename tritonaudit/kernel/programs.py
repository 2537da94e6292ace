"""Whether an axis of a grid has more than one program, as far as the host code tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.kernel.launch import ROUNDED_UP, Launch, LaunchFacts, meta_key
from tritonaudit.source.outline import dotted_name

_SIZES = ("numel", "size")
_DEPTH = 6


def several_programs(launches: LaunchFacts) -> Iterator[tuple[Launch, int]]:
    """The axes along which a launch has several programs for some sizes, each with the first such launch."""
    for axis in range(3):
        for launch in launches.launches:
            if axis >= len(launch.axes) or launch.wrapper is None:
                continue
            if is_several(launches, launch, launch.axes[axis]):
                yield launch, axis
                break


def is_several(launches: LaunchFacts, launch: Launch, node: ast.expr, depth: int = 0) -> bool:
    """Whether it surely can be more than 1."""
    if depth > _DEPTH or _is_compared_with_one(launch, node):
        return False
    if isinstance(node, ast.Name):
        values = [value for value in launch.definitions(node) if value is not node]
        if not values:
            return _is_given(launch, node.id)
        return all(is_several(launches, launch, value, depth + 1) for value in values)
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value > 1
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return any(is_several(launches, launch, side, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return _is_split(launches, launch, node.left, node.right, depth)
    if isinstance(node, ast.Subscript):
        return _is_dimension(node)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else (dotted_name(node.func) or "")
        if name in ROUNDED_UP and len(node.args) == 2:
            return _is_split(launches, launch, node.args[0], node.args[1], depth)
        if name == "min":
            return bool(node.args) and all(is_several(launches, launch, a, depth + 1) for a in node.args)
        return name in _SIZES
    return False


def _is_dimension(node: ast.Subscript) -> bool:
    """A dimension of a shape, unpacked or not."""
    return any(isinstance(inner, ast.Attribute) and inner.attr == "shape" for inner in ast.walk(node)) or any(
        isinstance(inner, ast.Attribute) and inner.attr == "size" for inner in ast.walk(node)
    )


def _is_split(launches: LaunchFacts, launch: Launch, size: ast.expr, block: ast.expr, depth: int) -> bool:
    """Whether a size is split into blocks that need not be as large as it is."""
    if not is_several(launches, launch, size, depth + 1):
        return False
    key = meta_key(block)
    if key is not None and key not in launch.arguments:
        return launches.is_tuned(key) and not launches.prunes
    block = block if key is None else launch.arguments[key]
    values = [launch.definition(value) for value in launch.definitions(block)]
    return bool(values) and not any(_may_hold(launch, value, size) for value in values)


def _may_hold(launch: Launch, block: ast.expr, size: ast.expr) -> bool:
    """Whether a block may be chosen to be as large as the size."""
    if isinstance(block, ast.Constant):
        return False
    if isinstance(block, ast.Call):
        name = (dotted_name(block.func) or "").rpartition(".")[2]
        if name == "min" and any(isinstance(launch.definition(a), ast.Constant) for a in block.args):
            return False
    return True


def _is_given(launch: Launch, name: str) -> bool:
    """Whether the caller of the wrapper gives it as a number, with no default."""
    assert launch.wrapper is not None
    arguments = launch.wrapper.args
    required = len(arguments.args) - len(arguments.defaults)
    return name in {argument.arg for argument in (*arguments.posonlyargs, *arguments.args[:required])}


def _is_compared_with_one(launch: Launch, node: ast.expr) -> bool:
    """Whether the wrapper asks if it is 1, or asserts it."""
    text = ast.unparse(node)
    return any(
        any(isinstance(value, ast.Constant) and value.value in (1, 2) for value in test.comparators)
        and ast.unparse(test.left) == text
        for test in launch.nodes.of(ast.Compare)
    )
