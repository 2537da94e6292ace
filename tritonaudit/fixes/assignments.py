"""Assignments: of a result that was dropped, and of the value that a variable begins with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Edit, Fix
from tritonaudit.ir.mistakes import Mistake
from tritonaudit.source.edits import inserted
from tritonaudit.source.outline import span_of


def assigned_back(kernel: KernelFlow, mistake: Mistake) -> Fix | None:
    """`p = tl.advance(p, …)`, where the statement is the call alone and `p` a name."""
    call = mistake.node
    if not any(isinstance(one, ast.Expr) and one.value is call for one in ast.walk(kernel.function.node)):
        return None
    name = str(mistake.words["pointer"])
    if not isinstance(call, ast.Call) or not name.isidentifier():
        return None
    edits = inserted(span_of(call, kernel.module.lines), before=f"{name} = ")
    return Fix(f"assign it, `{name} = …`", edits, safe=True)


def begun_as_float(kernel: KernelFlow, mistake: Mistake) -> Fix | None:
    """`0` as `0.0`, in the only assignment before the loop in which the variable becomes fp32."""
    name, line = str(mistake.words["name"]), getattr(mistake.node, "lineno", 0)
    loops = [loop for loop in ast.walk(kernel.function.node) if isinstance(loop, (ast.For, ast.While))]
    around = [loop for loop in loops if loop.lineno <= line <= (loop.end_lineno or 0)]
    if mistake.words["after"] != "fp32" or not around:
        return None
    before = [store for store in _stores(kernel.function.node, name) if store.lineno < around[-1].lineno]
    values = [value for target, value in _assigned(kernel.function.node) if target in before]
    if len(before) != 1 or len(values) != 1:
        return None
    (value,) = values
    if not isinstance(value, ast.Constant) or type(value.value) is not int:
        return None
    text = f"{value.value}.0"
    return Fix(f"begin with `{text}`", (Edit(span_of(value, kernel.module.lines), text),), safe=True)


def _stores(function: ast.FunctionDef, name: str) -> list[ast.Name]:
    return [
        one
        for one in ast.walk(function)
        if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
    ]


def _assigned(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to, each with its own value, where these are written side by side."""
    for statement in ast.walk(function):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        (target,), value = statement.targets, statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield target, value
