"""Statements of host code on one path: what they set, where they return, raise or go on."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from tritonaudit.host.expressions import bind, learn_rank, look_up, value
from tritonaudit.host.members import set_attribute
from tritonaudit.host.operators import binary, compare
from tritonaudit.host.run import Raises, Run
from tritonaudit.host.values import Bag, Dims, Frame, Function, Kernel, Symbol, Value

_MOST_TURNS = 64


@dataclass(frozen=True)
class Returned:
    value: Value


class _Leaves:
    """A `break` or a `continue`."""


_BREAK, _CONTINUE = _Leaves(), _Leaves()
Outcome = Returned | _Leaves | None


def execute(run: Run, frame: Frame, body: list[ast.stmt]) -> Outcome:
    """Run statements one after the other, until one leaves."""
    for node in body:
        if id(node) in run.dead:
            continue
        run.step()
        outcome = _statement(run, frame, node)
        if outcome is not None:
            return outcome
    return None


def _statement(run: Run, frame: Frame, node: ast.stmt) -> Outcome:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            learn_rank(run, frame, target, node.value)
        given = value(run, frame, node.value)
        for target in node.targets:
            bind(run, frame, target, given)
    elif isinstance(node, ast.If):
        holds = run.truth(value(run, frame, node.test), not _raises(run, node.body))
        return execute(run, frame, node.body if holds else node.orelse)
    elif isinstance(node, ast.Expr):
        value(run, frame, node.value)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            bind(run, frame, node.target, value(run, frame, node.value))
    elif isinstance(node, ast.AugAssign):
        before = value(run, frame, _loaded(node.target))
        bind(run, frame, node.target, binary(run, node.op, before, value(run, frame, node.value)))
    elif isinstance(node, ast.Return):
        return Returned(None if node.value is None else value(run, frame, node.value))
    elif isinstance(node, ast.Assert):
        run.require(_all_of(run, frame, node.test), _fails(node.test))
    elif isinstance(node, ast.Raise):
        raise Raises(f"it raises `{'' if node.exc is None else ast.unparse(node.exc)[:80]}`")
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        frame.names[node.name] = frame.scope.defined(node, frame)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        _import(run, frame, node)
    elif isinstance(node, (ast.Break, ast.Continue)):
        return _BREAK if isinstance(node, ast.Break) else _CONTINUE
    else:
        return _compound(run, frame, node)
    return None


def _raises(run: Run, body: list[ast.stmt]) -> bool:
    last = next((node for node in reversed(body) if id(node) not in run.dead), None)
    return isinstance(last, ast.Raise)


def _compound(run: Run, frame: Frame, node: ast.stmt) -> Outcome:
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return _for(run, frame, node)
    if isinstance(node, ast.While):
        return _while(run, frame, node)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            given = value(run, frame, item.context_expr)
            if item.optional_vars is not None:
                bind(run, frame, item.optional_vars, given)
        return execute(run, frame, node.body)
    if isinstance(node, ast.Try):
        return _try(run, frame, node)
    if isinstance(node, (ast.Global, ast.Nonlocal, ast.Pass, ast.Delete)):
        return None
    _forget(run, frame, [node], f"`{type(node).__name__}` is not evaluated")
    return None


@lru_cache(maxsize=1024)
def _fails(test: ast.expr) -> str:
    return f"`assert {ast.unparse(test)[:80]}` fails"


def _loaded(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    """The target of `+=`, to be read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def _all_of(run: Run, frame: Frame, test: ast.expr) -> Value:
    """The last part of `a and b`, after the others are required: an assertion goes one way only."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values[:-1]:
            run.require(_all_of(run, frame, part), _fails(part))
        return _all_of(run, frame, test.values[-1])
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        left, right = value(run, frame, test.left), value(run, frame, test.comparators[0])
        return _same_shapes(run, left, right, test)
    return value(run, frame, test)


def _same_shapes(run: Run, left: Value, right: Value, test: ast.Compare) -> Value:
    """Shapes that are asserted to be the same are, size by size."""
    pair = [run.dims(side) if isinstance(side, Dims) else side for side in (left, right)]
    for one, other in (pair, pair[::-1]):
        if isinstance(one, Dims) and isinstance(other, tuple):
            run.learn_rank(one.of, len(other) + one.first - (one.last or 0))
            pair = [run.dims(one), other]
    one, other = pair
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for a, b in zip(one, other, strict=True):
            run.require(compare(run, ast.Eq(), a, b), _fails(test))
        return True
    return compare(run, ast.Eq(), left, right)


def _import(run: Run, frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            name = alias.asname or alias.name.partition(".")[0]
            frame.names[name] = frame.scope.imported(alias.name if alias.asname else name, "")
        elif alias.name != "*":
            source = "." * node.level + (node.module or "")
            found = frame.scope.imported(source, alias.name)
            frame.names[alias.asname or alias.name] = found
            if isinstance(found, Function):
                run.read.add(found.node)


def _for(run: Run, frame: Frame, node: ast.For | ast.AsyncFor) -> Outcome:
    over = value(run, frame, node.iter)
    over = run.dims(over) if isinstance(over, Dims) else over
    if isinstance(over, (tuple, list, dict)) and len(over) <= _MOST_TURNS:
        for element in tuple(over):
            bind(run, frame, node.target, element)
            outcome = execute(run, frame, node.body)
            if isinstance(outcome, Returned):
                return outcome
            if outcome is _BREAK:
                return None
        return execute(run, frame, node.orelse)
    _forget(run, frame, node.body, "it is set in a loop")
    element = over.element if isinstance(over, Bag) and over.element is not None else None
    turn = run.unknown("an element of what a loop runs over", over, name=ast.unparse(node.target)[:40])
    bind(run, frame, node.target, turn if element is None else element)
    outcome = execute(run, frame, node.body)
    _forget(run, frame, node.body, "it is set in a loop")
    return outcome if isinstance(outcome, Returned) else None


def _while(run: Run, frame: Frame, node: ast.While) -> Outcome:
    for _ in range(_MOST_TURNS):
        condition = run.condition(value(run, frame, node.test))
        if condition is False:
            return None
        if condition is not True:
            break
        outcome = execute(run, frame, node.body)
        if outcome is not None and outcome is not _CONTINUE:
            return outcome if isinstance(outcome, Returned) else None
    _forget(run, frame, node.body, "it is set in a loop")
    outcome = execute(run, frame, node.body)
    _forget(run, frame, node.body, "it is set in a loop")
    return outcome if isinstance(outcome, Returned) else None


def _try(run: Run, frame: Frame, node: ast.Try) -> Outcome:
    """What the body raises is handled by the first handler; calls of libraries are taken not to raise."""
    try:
        outcome = execute(run, frame, node.body)
        if outcome is None:
            outcome = execute(run, frame, node.orelse)
    except Raises:
        if not node.handlers:
            raise
        outcome = execute(run, frame, node.handlers[0].body)
    return execute(run, frame, node.finalbody) or outcome


def _forget(run: Run, frame: Frame, body: list[ast.stmt], reason: str) -> None:
    """What the statements set is not known; kernels and the like stay what they are."""
    for statement in body:
        steps, stores = _stores(statement, run.dead)
        run.spend(steps)
        for node in stores:
            if isinstance(node, ast.Name):
                before = look_up(run, frame, node.id)
                if not isinstance(before, Kernel):
                    roots = before.roots if isinstance(before, Symbol) else frozenset()
                    frame.names[node.id] = Symbol((*run.fresh(), id(node)), node.id, reason, roots)
            else:
                set_attribute(run, value(run, frame, node.value), node.attr, run.unknown(reason, name=node.attr))


@lru_cache(maxsize=1024)
def _stores(statement: ast.stmt, dead: frozenset[int]) -> tuple[int, tuple[ast.Name | ast.Attribute, ...]]:
    """How many nodes there are to it, and those that set a name or an attribute."""
    found: list[ast.AST] = [] if id(statement) in dead else [statement]
    for node in found:  # which grows while it is read
        found.extend(inner for inner in ast.iter_child_nodes(node) if id(inner) not in dead)
    stores = [node for node in found if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)]
    return len(found), tuple(stores)
