"""What the other kernels of a file multiply in 64 bits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_WIDE = "int64"
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WideProduct:
    """The parameters that are multiplied by what has 64 bits: at `node`, or by one that is taken as such there."""

    sizes: frozenset[str]
    node: ast.expr | ast.arg


def wide_products(module: Module, but: JitFunction) -> Iterator[WideProduct]:
    """Those of all kernels of the file but one."""
    for function in module.jit if _WIDE in module.text else ():
        if function is not but and (_WIDE in module.text_of(function)):
            yield from _Kernel(function).products()


def wide_sizes(module: Module, function: JitFunction) -> list[frozenset[str]]:
    """What a kernel says by its wide products to those that ask for all but their own."""
    is_reported = _WIDE in module.text and _WIDE in module.text_of(function)
    return [product.sizes for product in _Kernel(function).products()] if is_reported else []


class _Kernel:
    """The names of a kernel that have 64 bits: parameters, what it casts, and what is computed from them."""

    def __init__(self, function: JitFunction) -> None:
        self._function = function
        self._parameters = {parameter.name for parameter in function.parameters}
        self._taken = {one.arg: one for one in function.nodes.of(ast.arg)}
        calls = [call for call in function.nodes.of(ast.Call) if (dotted_name(call.func) or "").endswith("arange")]
        self._tiles = set().union(*(names_in(argument) for call in calls for argument in call.args))
        self._wide = {one.name: frozenset((one.name,)) for one in function.parameters if one.wide}
        settings: list[ast.Assign | ast.For] = [*function.nodes.of(ast.Assign), *function.nodes.of(ast.For)]
        for setting in sorted(settings, key=lambda node: node.lineno):
            if isinstance(setting, ast.Assign):
                self._set(setting.targets[0], setting.value)
            elif isinstance(setting.iter, ast.Call) and any(map(self._is_wide, setting.iter.args)):
                self._wide.update(dict.fromkeys(names_in(setting.target), _NONE))

    def products(self) -> Iterator[WideProduct]:
        """The outermost ones."""
        nodes = [node for node in self._function.nodes.of(ast.BinOp) if isinstance(node.op, ast.Mult)]
        inside = {id(inner) for node in nodes for inner in ast.walk(node) if inner is not node}
        for node in nodes:
            sizes = self._sizes(node) if id(node) not in inside and self._is_wide(node) else None
            if sizes:
                wide = [name for name in sorted(names_in(node)) if name in self._parameters and name in self._wide]
                yield WideProduct(sizes, self._taken[wide[0]] if wide else node)

    def _sizes(self, node: ast.expr) -> frozenset[str]:
        names = names_in(node)
        behind = _NONE.union(*(self._wide.get(name, _NONE) for name in names))
        return (behind | (names & self._parameters)) - self._tiles

    def _set(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, part in zip(target.elts, value.elts, strict=True):
                self._set(one, part)
        elif isinstance(target, ast.Name) and self._is_wide(value):
            self._wide[target.id] = _NONE if isinstance(value, ast.Call) else self._sizes(value)

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
