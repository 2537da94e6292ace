"""Conditions of `tl.where` that are numbers, not booleans."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.source.outline import JitFunction, Module

_MAX_DEPTH = 4

_NUMBERS = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))
_DTYPES = frozenset({*_NUMBERS, "float16", "bfloat16", "float32", "float64"})

_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)


def numeric_conditions(module: Module, function: JitFunction) -> Iterator[ast.expr]:
    """The conditions of `tl.where` that certainly are numbers, whatever the kernel is launched with."""
    selections = [
        call for call in function.nodes.of(ast.Call) if module.origin_of(call.func) == "triton.language.where"
    ]
    reader = _Reader(module, function) if selections else None
    for call in selections:
        given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "condition"), None)
        if reader is not None and given is not None and reader.is_number(given):
            yield given


class _Reader:
    """Tells numbers from booleans by what the names of a function are set to."""

    def __init__(self, module: Module, function: JitFunction) -> None:
        self._module = module
        self._parameters = {parameter.name for parameter in function.parameters}
        self._set: dict[str, list[ast.expr | None]] = {}
        nodes = function.nodes
        for assign in nodes.of(ast.Assign):
            self._note(assign.targets, assign.value)
        others: list[ast.For | ast.AugAssign | ast.AnnAssign | ast.NamedExpr] = [
            *nodes.of(ast.For), *nodes.of(ast.AugAssign), *nodes.of(ast.AnnAssign), *nodes.of(ast.NamedExpr),
        ]  # fmt: skip
        for node in others:
            self._note([node.target], None)

    def _note(self, targets: list[ast.expr], value: ast.expr | None) -> None:
        if len(targets) > 1 or not isinstance(targets[0], ast.Name):
            value = None
        for name in (inner for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)):
            self._set.setdefault(name.id, []).append(value)

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
        origins = [self._module.origin_of(argument) for argument in dtype]
        return cast and any(
            origin.startswith("triton.language.") and origin.rpartition(".")[2] in _DTYPES for origin in origins
        )


def _is_written(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int
