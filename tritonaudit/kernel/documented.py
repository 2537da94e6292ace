"""What says in words what a kernel computes."""

from __future__ import annotations

import ast

from tritonaudit.kernel.launch import LaunchFacts
from tritonaudit.source.outline import JitFunction, Module


def is_documented(module: Module, function: JitFunction, launches: LaunchFacts) -> bool:
    """Whether the kernel, or a function that launches it, has a docstring or a comment at its head."""
    wrappers = [(launch.module, launch.wrapper) for launch in launches.launches if launch.wrapper is not None]
    return any(_has_words(file, node) for file, node in ((module, function.node), *wrappers))


def _has_words(module: Module, node: ast.FunctionDef) -> bool:
    if ast.get_docstring(node) is not None:
        return True
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    heads = (first - 1, node.body[0].lineno - 1)  # the lines above the decorators, and above the first statement
    return any(line > 0 and module.lines[line - 1].lstrip().startswith("#") for line in heads)
