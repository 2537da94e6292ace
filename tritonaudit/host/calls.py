"""Calls: functions of the project are run, kernels are launched, libraries are asked."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache

from tritonaudit.host import library, members
from tritonaudit.host.expressions import value
from tritonaudit.host.launching import launch
from tritonaudit.host.run import Raises, Run
from tritonaudit.host.statements import Returned, execute
from tritonaudit.host.values import (
    Bag,
    Builtin,
    Class,
    External,
    Frame,
    Function,
    Kernel,
    Launcher,
    Object,
    Partial,
    Rest,
    Symbol,
    Value,
    roots_of,
)
from tritonaudit.source.outline import dotted_name

_DEEPEST = 12


def apply(run: Run, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.AST | None) -> Value:
    """What a call returns."""
    run.step()
    if isinstance(function, Partial):
        return apply(run, function.function, [*function.args, *args], {**function.keywords, **keywords}, node)
    if isinstance(function, Function):
        return _run(run, function, args, keywords, node)
    if isinstance(function, Launcher) and isinstance(function.kernel, Kernel):
        return launch(run, function.kernel, function.grid, args, keywords, node)
    if isinstance(function, Builtin):
        return function.call(args, keywords)
    if isinstance(function, External):
        return library.call(run, function.name, args, keywords)
    if isinstance(function, Class):
        return members.instance(run, function, args, keywords)
    if isinstance(function, Object):
        called = members.attribute(run, function, "__call__")
        called = called if isinstance(called, Function) else members.attribute(run, function, "forward")
        if isinstance(called, Function):
            return apply(run, called, args, keywords, node)
    return _unknown(run, function, args, keywords)


def _unknown(run: Run, function: Value, args: list[Value], keywords: dict[str, Value]) -> Symbol:
    name = function.name if isinstance(function, Symbol) else "a call"
    if isinstance(function, Symbol) and function.key[-1] == "save_for_backward":
        saved = (*function.key[:-1], "saved_tensors")
        run.fields[saved] = tuple(args)
        run.fields.update({(*saved, "[]", place): value for place, value in enumerate(args)})
    reason = function.reason if isinstance(function, Symbol) and function.reason else f"`{name}` is given"
    roots = roots_of((function, *args, *keywords.values()))
    return Symbol(run.fresh(), f"{name}(…)", f"`{name}` is called, and {reason}", roots)


def _run(run: Run, function: Function, args: list[Value], keywords: dict[str, Value], node: ast.AST | None) -> Value:
    """Run a function of the project, unless it runs already or the calls go too deep."""
    if len(run.calls) >= _DEEPEST or sum(one.node is function.node for one in run.calls) > 1:
        return run.unknown(f"`{function.name}` is called too deeply", *args, *keywords.values())
    given = [function.first, *args] if function.is_bound else args
    decorated = function if function.is_bare else _decorated(run, function)
    if decorated is not function:
        return apply(run, decorated, given, keywords, node)
    names = bound(run, function, given, keywords)
    frame = Frame(function.frame.scope, names, function.frame)
    run.calls.append(function)
    dead = run.dead
    try:
        if isinstance(function.node, ast.Lambda):
            return value(run, frame, function.node.body)
        run.read.add(function.node)
        nodes = function.frame.scope.module.nodes(function.node)
        if nodes.of(ast.Yield):
            return Bag(run.unknown(f"what `{function.name}` yields", *args))
        run.dead = nodes.dead
        outcome = execute(run, frame, function.node.body)
    finally:
        run.calls.pop()
        run.dead = dead
    return outcome.value if isinstance(outcome, Returned) else None


def _decorated(run: Run, function: Function) -> Value:
    """What the project's own decorators make of a function; those of libraries leave it as it is."""
    if isinstance(function.node, ast.Lambda):
        return function
    found: Value = function
    for decorator in reversed(function.node.decorator_list):
        name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        known = None if name is None else function.frame.scope.look_up(name)
        if isinstance(known, Function):
            found = replace(function, is_bare=True, is_bound=False) if found is function else found
            made = apply(run, value(run, function.frame, decorator), [found], {}, None)
            found = made if isinstance(made, Function) else found
    return found


def bound(run: Run, function: Function, args: list[Value], keywords: dict[str, Value]) -> dict[str, Value]:
    """The parameters of a function with what is passed for them. Raises Raises where the call does not fit."""
    spec = function.node.args
    positional, known, given = _parameters(function.node)
    is_open = "**" in keywords or any(isinstance(value, Rest) for value in args)
    args = [value for value in args if not isinstance(value, Rest)]
    names = dict(zip(positional, args, strict=False))
    if spec.vararg is not None:
        names[spec.vararg.arg] = tuple(args[len(positional) :])
    elif len(args) > len(positional):
        raise Raises(f"`{function.name}` takes {len(positional)} arguments, not {len(args)}")
    names.update({name: value for name, value in keywords.items() if name in known})
    if spec.kwarg is not None:
        names[spec.kwarg.arg] = {name: value for name, value in keywords.items() if name not in known and name != "**"}
    for name, default in given.items():
        if name not in names:
            names[name] = value(run, function.frame, default)
    for name in known - set(names):
        if not is_open:
            raise Raises(f"`{function.name}` is not passed `{name}`")
        names[name] = run.unknown("it is passed by `*` or `**`", name=name)
    return names


@lru_cache(maxsize=1024)
def _parameters(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> tuple[list[str], frozenset[str], dict[str, ast.expr]]:
    """Those that are passed by their places, all that may be passed by name, and the defaults."""
    spec = node.args
    positional = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    given = dict(zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True))
    only = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    given.update({arg.arg: default for arg, default in only if default is not None})
    return positional, frozenset((*positional, *(arg.arg for arg in spec.kwonlyargs))), given
