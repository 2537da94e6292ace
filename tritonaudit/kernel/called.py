"""By which calls the code of a file comes to a kernel's launches."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tritonaudit.kernel.launch import Launch
from tritonaudit.source.nodes import spans
from tritonaudit.source.outline import Module, dotted_name

_DEEPEST = 3


@dataclass(frozen=True)
class Routes:
    """The calls of launches, and the names of functions and methods that make them.

    `differentiable` are the names of `autograd.Function`s that do, and `calls` all calls that lead to the launches.
    """

    launches: frozenset[ast.Call]
    functions: frozenset[str]
    differentiable: frozenset[str]
    calls: tuple[ast.Call, ...]

    def leads(self, node: ast.Call) -> bool:
        """Whether the call is a launch, or calls what launches: a function, or a `Function` by `apply`."""
        if node in self.launches:
            return True
        head, _, name = (dotted_name(node.func) or "").rpartition(".")
        if name == "apply":
            return head in self.differentiable
        return name in self.functions and head in ("", "self", "cls")


def routes(module: Module, launches: Iterable[Launch]) -> Routes:
    """How the file's own functions come to the launches, a few calls deep."""
    nodes = module.nodes(module.tree)
    starts = tuple(launch.call for launch in launches)
    found = Routes(frozenset(starts), frozenset(), frozenset(), starts)
    jit = {id(function.node) for function in module.jit}
    functions = [node for node in nodes.of(ast.FunctionDef) if id(node) not in jit]
    classes = [node for node in nodes.of(ast.ClassDef) if is_function(module, node)]
    for _ in range(_DEEPEST):
        lines = [call.lineno for call in found.calls]
        applied = {node.name for node in classes if any(spans(node, line) for line in lines)}
        around = [node for node in functions if any(spans(node, line) for line in lines)]
        named = {node.name for node in around if not any(spans(owner, node.lineno) for owner in classes)}
        if applied <= found.differentiable and named <= found.functions:
            break
        found = Routes(found.launches, found.functions | named, found.differentiable | applied, ())
        wanted = (*found.functions, *(("apply",) if found.differentiable else ()))
        calls = {call for name in wanted for call in nodes.calls_of.get(name, ()) if found.leads(call)}
        in_order = sorted(calls.union(found.launches), key=lambda call: (call.lineno, call.col_offset))
        found = replace(found, calls=tuple(in_order))
    return found


def is_function(module: Module, node: ast.ClassDef) -> bool:
    """Whether the class is a `torch.autograd.Function`."""
    return any(
        module.origin_of(base).endswith(("autograd.Function", "autograd.function.Function")) for base in node.bases
    )
