"""Conditions of `tl.where` that are numbers, not booleans."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.source.outline import JitFunction, Module, dotted_name

_MAX_DEPTH = 4

_NUMBERS = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))
_DTYPES = frozenset({*_NUMBERS, "float16", "bfloat16", "float32", "float64"})

_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)


def numeric_conditions(module: Module, function: JitFunction) -> Iterator[ast.expr]:
    """The conditions of `tl.where` that certainly are numbers, whatever the kernel is launched with."""
    reader = _Reader(module, function)
    for node in ast.walk(function.node):
        if isinstance(node, ast.Call) and module.origin(dotted_name(node.func) or "?") == "triton.language.where":
            given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "condition"), None)
            if given is not None and reader.is_number(given):
                yield given


class _Reader:
    """Tells numbers from booleans by what the names of a function are set to."""

    def __init__(self, module: Module, function: JitFunction) -> None:
        self._module = module
        self._parameters = {parameter.name for parameter in function.parameters}
        self._set: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(function.node):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._set.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, (ast.Assign, ast.For, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (inner for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name))
            for name in names:
                self._set.setdefault(name.id, []).append(None)

    def is_number(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether it is an integer of more than one bit, or a float, on every path."""
        if depth > _MAX_DEPTH:
            return False
        if isinstance(node, ast.Subscript):
            return self.is_number(node.value, depth + 1)
        if isinstance(node, ast.Name):
            values = self._set.get(node.id, [])
            known = node.id not in self._parameters and bool(values)
            return known and all(value is not None and self.is_number(value, depth + 1) for value in values)
        if isinstance(node, ast.BinOp):
            return self._is_computed(node, depth)
        return isinstance(node, ast.Call) and self._is_cast(node)

    def _is_computed(self, node: ast.BinOp, depth: int) -> bool:
        """Booleans stay booleans among each other; with a number, even 1, they become numbers."""
        if isinstance(node.op, (ast.LShift, ast.RShift)):
            return True
        if not isinstance(node.op, _WHOLE):
            return False
        return any(_is_written(side) or self.is_number(side, depth + 1) for side in (node.left, node.right))

    def _is_cast(self, node: ast.Call) -> bool:
        """`x.to(tl.int32)` or `tl.cast(x, tl.int32)`."""
        cast = isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cast")
        dtype = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
        origins = [self._module.origin(dotted_name(argument) or "?") for argument in dtype]
        return cast and any(
            origin.startswith("triton.language.") and origin.rpartition(".")[2] in _DTYPES for origin in origins
        )


def _is_written(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int
