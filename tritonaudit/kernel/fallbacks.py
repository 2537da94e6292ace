"""Handlers that answer whatever goes wrong in a launch with another computation, and say nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.called import routes
from tritonaudit.kernel.launch import Launch
from tritonaudit.source.nodes import statements_in
from tritonaudit.source.outline import Module, dotted_name

_EVERYTHING = frozenset({"Exception", "BaseException"})
_SPEAKS = re.compile(
    r"(\b|_)log(ger|ging)?\.|warn|print|error|exception|fail|skip|report|record|traceback", re.IGNORECASE
)
_TRIAL = re.compile(r"bench|tun(e|ing)|profil|warm_?up|probe|supported|is_available", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Fallback:
    """A handler for every failure of `launch`, whose `answer` takes the kernel's place."""

    handler: ast.ExceptHandler
    launch: ast.Call
    answer: ast.stmt


def fallbacks(module: Module, launches: tuple[Launch, ...]) -> Iterator[Fallback]:
    """The handlers that hide the failures of a kernel's launches."""
    tries = module.nodes(module.tree).of(ast.Try)
    caught = [(node, handler) for node in tries for handler in node.handlers if _catches_all(handler)]
    if not caught or not launches:
        return
    ways = routes(module, launches)
    for node, handler in caught:
        inside = [inner for statement in node.body for inner in ast.walk(statement)]
        launch = next((inner for inner in inside if isinstance(inner, ast.Call) and ways.leads(inner)), None)
        answer = None if launch is None else _answer(module, node, handler)
        if launch is None or answer is None or _speaks(handler) or _is_trial(module, node, inside):
            continue
        yield Fallback(handler, launch, answer)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _EVERYTHING) for kind in kinds)


def _speaks(handler: ast.ExceptHandler) -> bool:
    """Whether it raises, uses the exception, or calls what sounds like saying so."""
    for node in (inner for statement in handler.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Name) and node.id == handler.name):
            return True
        if isinstance(node, ast.Call) and _SPEAKS.search(ast.unparse(node.func)) is not None:
            return True
    return False


def _is_trial(module: Module, node: ast.Try, inside: list[ast.AST]) -> bool:
    """Whether it is tried out whether or how fast the kernel runs, or whether Triton is there."""
    if any(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in inside):
        return True
    around = [f.name for f in module.nodes(module.tree).of(ast.FunctionDef) if _holds(f, node)]
    called = [dotted_name(inner.func) or "" for inner in inside if isinstance(inner, ast.Call)]
    return any(_TRIAL.search(name) is not None or name.startswith("test") for name in (*around, *called))


def _holds(outer: ast.stmt, inner: ast.stmt) -> bool:
    return outer.lineno <= inner.lineno and (inner.end_lineno or 0) <= (outer.end_lineno or 0)


def _answer(module: Module, node: ast.Try, handler: ast.ExceptHandler) -> ast.stmt | None:
    """What the handler returns or sets in place of what the launch would have, or what is returned where it passes."""
    set_by_launch = {name for statement in node.body for name in _targets(statement)}
    for statement in (inner for top in handler.body for inner in statements_in(top)):
        if isinstance(statement, ast.Return) and statement.value is not None and _computes(statement.value):
            return statement
        if (
            isinstance(statement, ast.Assign)
            and _computes(statement.value)
            and set_by_launch & set(_targets(statement))
        ):
            return statement
    returns = any(isinstance(inner, ast.Return) for statement in node.body for inner in statements_in(statement))
    if returns and all(isinstance(statement, ast.Pass) for statement in handler.body):
        return _next(module, node)
    return None


def _targets(statement: ast.AST) -> Iterator[str]:
    for inner in statements_in(statement):
        if isinstance(inner, ast.Assign):
            yield from (ast.unparse(target) for target in inner.targets)


def _computes(value: ast.expr) -> bool:
    return any(isinstance(node, (ast.Call, ast.BinOp)) for node in ast.walk(value))


def _next(module: Module, node: ast.Try) -> ast.Return | None:
    """What the function returns after it, where that computes something."""
    around = [function for function in module.nodes(module.tree).of(ast.FunctionDef) if _holds(function, node)]
    if not around:
        return None
    end = node.end_lineno or node.lineno
    later = (statement for statement in module.nodes(around[-1]).of(ast.Return) if statement.lineno > end)
    return next((statement for statement in later if statement.value is not None and _computes(statement.value)), None)
