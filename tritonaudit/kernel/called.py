"""By which calls the code of a file comes to a kernel's launches."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch
from tritonaudit.source.nodes import spans
from tritonaudit.source.outline import Module, dotted_name

_DEEPEST = 3


@dataclass(frozen=True)
class Routes:
    """The calls of launches, and the names of functions and methods that make them.

    `differentiable` are the names of `autograd.Function`s that do.
    """

    launches: frozenset[ast.Call]
    functions: frozenset[str]
    differentiable: frozenset[str]

    def leads(self, node: ast.Call) -> bool:
        """Whether the call is a launch, or calls what launches: a function, or a `Function` by `apply`."""
        if node in self.launches:
            return True
        head, _, name = (dotted_name(node.func) or "").rpartition(".")
        if name == "apply":
            return head in self.differentiable
        return name in self.functions and head in ("", "self", "cls")

    def through_function(self, node: ast.Call) -> bool:
        """Whether it is an `autograd.Function` that the call applies."""
        head, _, name = (dotted_name(node.func) or "").rpartition(".")
        return name == "apply" and head in self.differentiable


def routes(module: Module, launches: Iterable[Launch]) -> Routes:
    """How the file's own functions come to the launches, a few calls deep."""
    nodes = module.nodes(module.tree)
    found = Routes(frozenset(launch.call for launch in launches), frozenset(), frozenset())
    jit = {id(function.node) for function in module.jit}
    functions = [node for node in nodes.of(ast.FunctionDef) if id(node) not in jit]
    classes = [node for node in nodes.of(ast.ClassDef) if is_function(module, node)]
    for _ in range(_DEEPEST):
        inside = [call for call in nodes.of(ast.Call) if found.leads(call)]
        applied = {node.name for node in classes if any(spans(node, call.lineno) for call in inside)}
        named = {
            node.name
            for node in functions
            if any(spans(node, call.lineno) for call in inside)
            and not any(spans(owner, node.lineno) for owner in classes)
        }
        if applied <= found.differentiable and named <= found.functions:
            break
        found = Routes(found.launches, found.functions | named, found.differentiable | applied)
    return found


def is_function(module: Module, node: ast.ClassDef) -> bool:
    """Whether the class is a `torch.autograd.Function`."""
    return any(module.origin_of(base).endswith("autograd.Function") or _is_bare(module, base) for base in node.bases)


def _is_bare(module: Module, base: ast.expr) -> bool:
    return module.origin_of(base).endswith("autograd.function.Function")
