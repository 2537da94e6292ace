"""Assignments that a trailing comma makes a tuple of, where the kernel goes on as if there were none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.source.outline import JitFunction, Module


@dataclass(frozen=True, eq=False)
class OneElementTuple:
    """`name = (element,)`, and where the tuple is used as the element would be."""

    name: str
    value: ast.Tuple
    use: ast.expr


def one_element_tuples(module: Module, function: JitFunction) -> Iterator[OneElementTuple]:
    """The tuples of one element that nothing takes apart and something computes with."""
    found = list(_assigned(function))
    walked = ast.walk(function.node) if found else ()
    parents = {id(child): node for node in walked for child in ast.iter_child_nodes(node)}
    for name, value in found:
        uses = [(use, parents[id(use)]) for use in function.nodes.of(ast.Name) if _reads(use, name)]
        if any(_takes_apart(use, parent) for use, parent in uses):
            continue
        is_block = _is_block(module, value.elts[0])
        for use, parent in uses:
            if _computes(module, use, parent, is_block):
                yield OneElementTuple(name, value, use)
                break


def _assigned(function: JitFunction) -> Iterator[tuple[str, ast.Tuple]]:
    for node in function.nodes.of(ast.Assign):
        value, target = node.value, node.targets[0]
        is_one = isinstance(value, ast.Tuple) and len(value.elts) == 1 and not isinstance(value.elts[0], ast.Starred)
        if len(node.targets) == 1 and isinstance(target, ast.Name) and isinstance(value, ast.Tuple) and is_one:
            yield target.id, value


def _reads(node: ast.Name, name: str) -> bool:
    return node.id == name and isinstance(node.ctx, ast.Load)


def _takes_apart(use: ast.expr, parent: ast.AST) -> bool:
    """Whether the tuple is used as one: subscripted, unpacked, run over, returned, or joined to another."""
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.left, ast.Tuple) or isinstance(parent.right, ast.Tuple)
    if isinstance(parent, (ast.Subscript, ast.For)):
        return use in (getattr(parent, "value", None), getattr(parent, "iter", None))
    return isinstance(parent, (ast.Starred, ast.Return, ast.Assign, ast.Tuple, ast.List))


def _computes(module: Module, use: ast.expr, parent: ast.AST, is_block: bool) -> bool:
    if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)):
        return True
    if not isinstance(parent, ast.Call) or use is parent.func:
        return False
    origin = module.origin_of(parent.func)
    if origin.startswith("triton.language."):
        return use in parent.args[:1] and origin.rpartition(".")[2].partition("_")[0] in ("load", "store", "atomic")
    return is_block  # a helper may be meant to take a tuple, but hardly one of a single block


def _is_block(module: Module, node: ast.expr) -> bool:
    """Whether it is computed from what is no shape: lanes, broadcast dimensions, programs or loaded values."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and any(_is_none(part) for part in ast.walk(inner.slice)):
            return True
        if isinstance(inner, ast.Call):
            origin = module.origin_of(inner.func)
            if origin in ("triton.language.arange", "triton.language.program_id", "triton.language.load"):
                return True
    return False


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
