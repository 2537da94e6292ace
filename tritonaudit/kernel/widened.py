"""What the kernels of a file multiply in 64 bits."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_WIDE = "int64"


def wide_parameters(module: Module) -> dict[str, ast.arg]:
    """The names by which some kernel of the file takes an integer of 64 bits, each with the first such parameter."""
    found: dict[str, ast.arg] = {}
    for function in module.jit:
        wide = {parameter.name for parameter in function.parameters if parameter.wide}
        for parameter in function.nodes.of(ast.arg) if wide else ():
            if parameter.arg in wide:
                found.setdefault(parameter.arg, parameter)
    return found


def wide_factors(module: Module) -> dict[str, ast.BinOp]:
    """The names that some kernel of the file multiplies by what it casts to 64 bits, each with the first product."""
    found: dict[str, ast.BinOp] = {}
    for function in module.jit if _WIDE in module.text else ():
        if _WIDE in module.text_of(function):
            for name, product in _Casts(function).factors():
                found.setdefault(name, product)
    return found


class _Casts:
    """The names of a kernel that have 64 bits because it casts them, or what they are computed from."""

    def __init__(self, function: JitFunction) -> None:
        self._function = function
        self._wide: set[str] = set()
        settings: list[ast.Assign | ast.For] = [*function.nodes.of(ast.Assign), *function.nodes.of(ast.For)]
        for setting in sorted(settings, key=lambda node: node.lineno):
            if isinstance(setting, ast.Assign):
                self._set(setting.targets[0], setting.value)
            elif isinstance(setting.iter, ast.Call) and any(map(self._is_wide, setting.iter.args)):
                self._wide |= names_in(setting.target)

    def factors(self) -> Iterator[tuple[str, ast.BinOp]]:
        for product in self._function.nodes.of(ast.BinOp):
            if isinstance(product.op, ast.Mult):
                for one, other in ((product.left, product.right), (product.right, product.left)):
                    if self._is_wide(one):
                        yield from ((name, product) for name in sorted(names_in(other)))

    def _set(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, part in zip(target.elts, value.elts, strict=True):
                self._set(one, part)
        elif isinstance(target, ast.Name) and self._is_wide(value):
            self._wide.add(target.id)

    def _is_wide(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BinOp):
            return self._is_wide(node.left) or self._is_wide(node.right)
        if isinstance(node, ast.Subscript):
            return self._is_wide(node.value)
        if isinstance(node, ast.Call):
            return _is_cast(node)
        return isinstance(node, ast.Name) and node.id in self._wide


def _is_cast(call: ast.Call) -> bool:
    """`x.to(tl.int64)` or `tl.cast(x, tl.int64)`."""
    is_named = isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cast")
    return is_named and any((dotted_name(passed) or "").endswith(_WIDE) for passed in call.args)
