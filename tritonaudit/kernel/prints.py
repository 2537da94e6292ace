"""Calls that print from a kernel, and whether a constant decides about them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module

_PRINTS = {
    "triton.language.device_print": False,
    "triton.language.debug.device_print": False,
    "triton.language.static_print": True,
    "print": False,
}


@dataclass(frozen=True)
class Print:
    """A call that prints: when the kernel is compiled, where it `is_static`, else from every lane that runs."""

    node: ast.Call
    text: str
    is_static: bool


def bare_prints(module: Module, function: JitFunction) -> Iterator[Print]:
    """The calls that print whatever the launch says: no enclosing condition asks for a constant of it."""
    if not any(module.origin_of(call.func) in _PRINTS for call in function.nodes.of(ast.Call)):
        return
    constants = _constants(module, function)
    stack: list[ast.AST] = list(function.node.body)
    while stack:
        node = stack.pop(0)
        if isinstance(node, (ast.If, ast.IfExp)) and names_in(node.test) & constants:
            continue
        if isinstance(node, ast.Call):
            origin = module.origin_of(node.func)
            if origin in _PRINTS:
                yield Print(node, ast.unparse(node.func), _PRINTS[origin])
        stack[:0] = ast.iter_child_nodes(node)


def is_printed_by_flag(module: Module, function: JitFunction, node: ast.expr) -> bool:
    """Whether it is an argument of Python's `print` where a constant asks for it, as under the interpreter alone."""
    constants = _constants(module, function)
    tests = (test for test in function.nodes.of(ast.If) if names_in(test.test) & constants)
    calls = (call for test in tests for call in ast.walk(test) if isinstance(call, ast.Call))
    return any(module.origin_of(call.func) == "print" and node in call.args for call in calls)


def _constants(module: Module, function: JitFunction) -> set[str]:
    return {parameter.name for parameter in function.parameters if parameter.constexpr} | set(module.constants)
