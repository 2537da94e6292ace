"""What the target's own library has, under the name that works in every release."""

from __future__ import annotations

import ast

from tritonaudit.finding import Edit, Fix, Span
from tritonaudit.source.outline import Module, span_of

_LIBRARY = "triton.language.extra.libdevice"
_NAME = "libdevice"
_IMPORT = "from triton.language.extra import libdevice"


def from_library(module: Module, node: ast.AST, origin: str) -> Fix | None:
    """The part of a dotted name that is `origin` written as the library or a function of it, and its import."""
    while isinstance(node, ast.Attribute) and module.origin_of(node) != origin:
        node = node.value
    if not isinstance(node, ast.Attribute):
        return None
    alias = next((name for name, known in module.names.items() if known == _LIBRARY), None)
    if alias is not None and not _is_bound_above(module, alias, node):
        return None
    imported = () if alias is not None else _imported(module, node)
    if imported is None:
        return None
    text = alias or _NAME
    if not origin.endswith(f".{_NAME}"):
        text += f".{node.attr}"
    return Fix(f"write `{text}`", (*imported, Edit(span_of(node, module.lines), text)), safe=True)


def _is_bound_above(module: Module, name: str, use: ast.Attribute) -> bool:
    """Whether a line above the use gives the name: of a notebook, the cells below may not have run."""
    return any(
        node.lineno < use.lineno
        and ((node.asname or node.name) == name if isinstance(node, ast.alias) else _binds(node, name))
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.alias, ast.Name))
    )


def _imported(module: Module, use: ast.Attribute) -> tuple[Edit, ...] | None:
    """The import after those of Triton above the use; None where there are none, or the name is another's."""
    nodes = list(ast.walk(module.tree))
    if _NAME in module.names or any(_binds(node, _NAME) for node in nodes):
        return None
    ends = (node.end_lineno or node.lineno for node in module.tree.body if _is_of_triton(module, node))
    line = max((end for end in ends if end < use.lineno), default=None)
    if line is None:
        return None
    column = len(module.lines[line - 1]) + 1
    return (Edit(Span(line, column, line, column), f"\n{_IMPORT}"),)


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.arg):
        return node.arg == name
    return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name


def _is_of_triton(module: Module, node: ast.stmt) -> bool:
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    return any(module.names.get(name, "").partition(".")[0] == "triton" for name in names)
