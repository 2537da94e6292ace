"""The five rules of Meta's Triton-Lint (facebookexperimental/triton, pull request 482), after their description.

Written anew from what each rule is said to look for: one walk over a kernel's syntax, `tl` by that name alone, no
launches, and a mask asked of every access.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bench.beside.reports import Complaint
from tritonaudit.source.outline import JitFunction, Module

_LANGUAGES = {"tl", "triton_language"}
_MASK_POSITION = {"load": 1, "store": 2}
_BLOCKS = {"arange", "make_block_ptr", "advance"}
_DEEPEST = 3


def complaints(_module: Module, function: JitFunction) -> Iterator[Complaint]:
    """What the five rules find in a kernel."""
    kernel = function.node
    yield from _accesses(kernel)
    yield from _hardcoded_sizes(kernel)
    if not any("autotune" in ast.unparse(decorator) for decorator in kernel.decorator_list):
        yield Complaint(kernel.lineno, "missing-autotune")
    yield from _deep_loops(kernel, 0)


def _accesses(kernel: ast.FunctionDef) -> Iterator[Complaint]:
    blocks = _block_names(kernel)
    for call in _calls(kernel, set(_MASK_POSITION)):
        position = _MASK_POSITION[_name(call)]
        if call.args and not _is_block(call.args[0], blocks):
            yield Complaint(call.lineno, "scalar-memory-access", is_error=True)
        if len(call.args) <= position and all(keyword.arg != "mask" for keyword in call.keywords):
            yield Complaint(call.lineno, "missing-mask")


def _block_names(kernel: ast.FunctionDef) -> set[str]:
    """Names that are set, somewhere, to something made of a `tl.arange` or a block pointer."""
    assigned = [node for node in ast.walk(kernel) if isinstance(node, ast.Assign | ast.AugAssign)]
    assigned.sort(key=lambda node: node.lineno)
    names: set[str] = set()
    for node in assigned:
        if _is_block(node.value, names):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names


def _is_block(value: ast.expr, blocks: set[str]) -> bool:
    is_named = any(isinstance(node, ast.Name) and node.id in blocks for node in ast.walk(value))
    return is_named or any(_calls(value, _BLOCKS))


def _hardcoded_sizes(kernel: ast.FunctionDef) -> Iterator[Complaint]:
    for call in _calls(kernel, {"arange"}):
        if len(call.args) == 2 and _is_number(call.args[1]):
            yield Complaint(call.lineno, "hardcoded-block-size")
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and _is_number(node.value) and any(map(_is_block_size, node.targets)):
            yield Complaint(node.lineno, "hardcoded-block-size")


def _deep_loops(node: ast.AST, depth: int) -> Iterator[Complaint]:
    for child in ast.iter_child_nodes(node):
        inside = depth + isinstance(child, ast.For | ast.While)
        if inside > max(depth, _DEEPEST):
            yield Complaint(getattr(child, "lineno", 0), "complex-loop-structure")
        yield from _deep_loops(child, inside)


def _calls(root: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(root):
        if isinstance(node, ast.Call) and _name(node) in names:
            yield node


def _name(call: ast.Call) -> str:
    """The name of a function of `tl`, empty for any other."""
    match call.func:
        case ast.Attribute(ast.Name(module), name) if module in _LANGUAGES:
            return name
    return ""


def _is_block_size(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and "BLOCK" in target.id.upper()


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int
