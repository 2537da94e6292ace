"""The dimensions of tensors as a wrapper speaks of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.kernel.launch import Launch

_LAYOUTS = ("reshape", "view")


def dimension_of(node: ast.expr) -> tuple[ast.expr | None, int | None]:
    """The tensor and the number of the dimension in `x.shape[0]`, `x.size(0)` or a part of an unpacked shape."""
    if isinstance(node, ast.Call):
        tensor = node.func.value if isinstance(node.func, ast.Attribute) else None
        return tensor, _integer(node.args[0]) if node.args else None
    if not isinstance(node, ast.Subscript):
        return None, None
    index, value = _integer(node.slice), node.value
    if isinstance(value, ast.Tuple) and index is not None and value.elts and isinstance(value.elts[0], ast.Starred):
        behind = len(value.elts) - 1
        if index >= -behind:
            return dimension_of(value.elts[index])
        index, value = index + behind, value.elts[0].value
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        return value.value, index
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "size":
        return (value.func.value, index) if not value.args else (None, None)
    return None, None


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def rank_of(launch: Launch, tensor: ast.expr) -> int | None:
    """How many dimensions the wrapper shows the tensor to have: all that it unpacks, else the furthest it asks for."""
    known = known_rank(launch, tensor)
    text = ast.unparse(tensor)
    if known is not None or any(_asks_rank(node, text) for node in launch.nodes.of(ast.Compare)):
        return known
    assert launch.wrapper is not None
    seen = [place for node in ast.walk(launch.wrapper) for place in _asked(node, text)]
    if set(seen) == {0, -1}:
        return 2  # the first and the last, and no other
    furthest = max((-place if place < 0 else place + 1 for place in seen), default=0)
    return furthest if furthest > 1 and len({place % furthest for place in seen}) == furthest else None


def known_rank(launch: Launch, tensor: ast.expr) -> int | None:
    """How many dimensions the wrapper says the tensor to have: it lays it out, unpacks all, or asserts their number."""
    laid_out = _laid_out(launch.definition(tensor))
    if laid_out is not None:
        return laid_out
    text = ast.unparse(tensor)
    for node in launch.nodes.of(ast.Assign):
        if isinstance(node.targets[0], (ast.Tuple, ast.List)):
            unpacked = _unpacked(node.targets[0], node.value, text)
            if unpacked is not None:
                return unpacked
    for asserted in launch.nodes.of(ast.Assert):
        for test in ast.walk(asserted.test):
            if isinstance(test, ast.Compare) and _asks_rank(test, text) and isinstance(test.ops[0], ast.Eq):
                return _integer(test.comparators[0])
    return None


def _asks_rank(test: ast.Compare, text: str) -> bool:
    return ast.unparse(test.left) in (f"{text}.dim()", f"{text}.ndim")


def _laid_out(node: ast.expr) -> int | None:
    """The dimensions of `x.reshape(-1, n)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LAYOUTS):
        return None
    given = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
    return None if len(given) < 2 or any(isinstance(size, ast.Starred) for size in given) else len(given)


def _unpacked(target: ast.Tuple | ast.List, value: ast.expr, text: str) -> int | None:
    count, elements = len(target.elts), value.elts if isinstance(value, ast.Tuple) else [value]
    first = elements[0] if elements else value
    if isinstance(first, ast.Starred):
        first, count = first.value, count - len(elements) + 1
    elif len(elements) != 1 or isinstance(value, ast.Tuple):
        return None
    if any(isinstance(element, ast.Starred) for element in target.elts):
        return None
    return count if ast.unparse(first) in (f"{text}.shape", f"{text}.size()") else None


def _asked(node: ast.AST, text: str) -> Iterator[int]:
    """The dimensions whose size or stride a node asks for."""
    place: int | None = None
    asking = (f"{text}.size", f"{text}.stride")
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == f"{text}.shape":
        at = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
        place = None if at is None else _integer(at)
    elif isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) in asking:
        place = _integer(node.args[0])
    if place is not None:
        yield place
