"""What the decorators of a kernel are to its compilation."""

from __future__ import annotations

import ast
from enum import Enum

from tritonaudit.source.outline import Module, dotted_name


class Role(Enum):
    """What a decorator of a jit function is."""

    OWN = "Triton's own, or the language's"
    AUTOTUNE = "an autotuner of the project's"
    JIT = "a jit of the project's"
    FOREIGN = "anything else"


def role_of(decorator: ast.expr, module: Module) -> Role:
    """What a decorator is, known by where its name comes from and, for a project's own, by what it is given."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    dotted = dotted_name(called)
    if dotted is None:
        return Role.FOREIGN
    origin = module.origin(dotted)
    if origin.startswith("triton.") or dotted == "staticmethod":
        return Role.OWN
    if origin.rpartition(".")[2] == "partial" and isinstance(decorator, ast.Call):
        return Role.OWN
    if configs_of(decorator) is not None:
        return Role.AUTOTUNE
    return Role.JIT if dotted.endswith("jit") else Role.FOREIGN


def configs_of(decorator: ast.expr) -> ast.expr | None:
    """The configs that a call of an autotuner, Triton's or another, is given."""
    if not isinstance(decorator, ast.Call):
        return None
    for keyword in decorator.keywords:
        if keyword.arg == "configs":
            return keyword.value
    name = (dotted_name(decorator.func) or "").rpartition(".")[2]
    return decorator.args[0] if decorator.args and name.endswith(("autotune", "tuner")) else None
