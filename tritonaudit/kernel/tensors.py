"""Where the tensors of a launch come from."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.reaching import Definitions

_VIEWS = frozenset({"view", "reshape", "unsqueeze", "squeeze", "detach", "view_as", "flatten", "unflatten"})
_DEPTH = 6


@dataclass(frozen=True, eq=False)
class Given:
    """What a function was given as its parameter `name`, as it came or as a view; `names` are those that it has.

    `made` is the last expression that makes a view of it.
    """

    name: str
    names: frozenset[str]
    made: ast.expr | None = None


def given(function: ast.FunctionDef, definitions: Definitions, node: ast.expr) -> Given | None:
    """The parameter that an expression of the function is, where nothing has made a new tensor of it."""
    names: set[str] = set()
    made = None
    for _ in range(_DEPTH):
        if isinstance(node, ast.Name):
            values = () if node.id in names else definitions.get(node.id, ())
            names.add(node.id)
            if not values:
                return Given(node.id, frozenset(names), made) if node.id in parameters(function) else None
            if len(values) > 1:
                return None
            node = values[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            made = made or node
            node = node.func.value
        else:
            break
    return None


def given_to(launch: Launch, node: ast.expr) -> Given | None:
    """The parameter of the wrapper that an argument of the launch is."""
    return None if launch.wrapper is None else given(launch.wrapper, launch.reaching, node)


def parameters(function: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters, those that take the rest left out."""
    arguments = function.args
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
