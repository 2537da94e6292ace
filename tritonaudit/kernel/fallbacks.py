"""Handlers that answer whatever goes wrong in a launch with another computation, and say nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.called import routes
from tritonaudit.kernel.launch import Launch
from tritonaudit.source.nodes import names_in, spans, statements_in
from tritonaudit.source.outline import Module, dotted_name

_EVERYTHING = frozenset({"Exception", "BaseException"})
_SPEAKS = re.compile(
    r"(\b|_)log(ger|ging)?\.|warn|print|error|exception|fail|skip|report|record|traceback|write|stderr", re.IGNORECASE
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
    tries = module.nodes(module.tree).of(ast.Try) if launches and module.says("except") else []
    leading = routes(module, launches).calls if tries else ()
    for node in tries:
        launch = next((call for call in leading if _tries(node, call)), None)
        if launch is None or _is_trial(module, node):
            continue
        for handler in node.handlers:
            answer = _answer(module, node, handler, _given(node, launch)) if _catches_all(handler) else None
            if answer is not None and not _speaks(handler):
                yield Fallback(handler, launch, answer)


def _tries(node: ast.Try, call: ast.Call) -> bool:
    """Whether the call stands in the body, not in a handler or after it."""
    last = node.body[-1]
    return node.body[0].lineno <= call.lineno <= (last.end_lineno or last.lineno)


def _given(node: ast.Try, launch: ast.Call) -> set[str]:
    """The names that the launch is given, and those that the body computes them from."""
    given = {name for value in (*launch.args, *launch.keywords) for name in names_in(value)}
    for statement in reversed([inner for top in node.body for inner in statements_in(top)]):
        if isinstance(statement, ast.Assign) and any(names_in(target) & given for target in statement.targets):
            given |= _arguments(statement.value)
    return given


def _arguments(value: ast.expr) -> set[str]:
    """The names in it but those of modules and functions that are called."""
    called = {node.func for node in ast.walk(value) if isinstance(node, ast.Call)}
    heads = {name for function in called if isinstance(function, ast.Name) for name in names_in(function)}
    return names_in(value) - heads


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


def _is_trial(module: Module, node: ast.Try) -> bool:
    """Whether it is tried out whether or how fast the kernel runs, or whether Triton is there."""
    inside = [inner for statement in node.body for inner in ast.walk(statement)]
    if any(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in inside):
        return True
    around = [f.name for f in module.nodes(module.tree).of(ast.FunctionDef) if spans(f, node.lineno)]
    called = [dotted_name(inner.func) or "" for inner in inside if isinstance(inner, ast.Call)]
    return any(_TRIAL.search(name) is not None or name.startswith("test") for name in (*around, *called))


def _answer(module: Module, node: ast.Try, handler: ast.ExceptHandler, given: set[str]) -> ast.stmt | None:
    """What the handler returns or sets in place of what the launch would have, or what is returned where it passes."""
    set_by_launch = {name for statement in node.body for name in _targets(statement)}
    for statement in (inner for top in handler.body for inner in statements_in(top)):
        if isinstance(statement, ast.Return) and _computes(statement.value, given):
            return statement
        if (
            isinstance(statement, ast.Assign)
            and _computes(statement.value, given)
            and set_by_launch & set(_targets(statement))
        ):
            return statement
    returns = any(isinstance(inner, ast.Return) for statement in node.body for inner in statements_in(statement))
    if returns and all(isinstance(statement, ast.Pass) for statement in handler.body):
        return _next(module, node, given)
    return None


def _targets(statement: ast.AST) -> Iterator[str]:
    for inner in statements_in(statement):
        if isinstance(inner, ast.Assign):
            yield from (ast.unparse(target) for target in inner.targets)


def _computes(value: ast.expr | None, given: set[str]) -> bool:
    """Whether it is computed from what the launch was given: a sentinel or a status is not."""
    inside = () if value is None else ast.walk(value)
    return any(isinstance(node, (ast.Call, ast.BinOp)) and names_in(node) & given for node in inside)


def _next(module: Module, node: ast.Try, given: set[str]) -> ast.Return | None:
    """What the function returns after it, where that computes something."""
    around = [function for function in module.nodes(module.tree).of(ast.FunctionDef) if spans(function, node.lineno)]
    if not around:
        return None
    end = node.end_lineno or node.lineno
    later = (statement for statement in module.nodes(around[-1]).of(ast.Return) if statement.lineno > end)
    return next((statement for statement in later if _computes(statement.value, given)), None)
