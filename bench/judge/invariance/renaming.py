"""`renamed`: local names, parameters and private functions get names that say nothing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from bench.judge.invariance.changes import Change, Edit, replaced
from bench.judge.invariance.scopes import Scope, parameters, scope, sees_names
from bench.judge.invariance.source import Function, Source

_TRITONS_OWN = frozenset(("jit", "autotune", "heuristics"))


def renamed(source: Source) -> Edit:
    """Local names and parameters, and functions that no other file knows, get neutral names.

    A name stays where something may ask for it by its spelling: a string, a formatted string, a keyword of another
    file, a configuration that is made elsewhere.
    """
    new: dict[str, str] = {}

    def neutral(name: str, stem: str) -> str:
        if name not in new:
            new[name] = source.fresh(f"{stem}{len(new)}")
        return new[name]

    functions = {name: neutral(name, "f") for name in _free_functions(source)}
    changes = [change for name in functions for change in _of_function(source, name, functions[name])]
    for function in source.functions:
        if sees_names(function):
            continue
        known = scope(function)
        free = _free_parameters(source, function, known)
        given = {one.arg for one in parameters(function)}
        names = _names(function)
        for name in sorted(known.plain - (given - free)):
            if not name.startswith("__") and name not in functions:
                changes.extend(_of_local(source, function, names[name], name, neutral(name, "v")))
        for name in sorted(free):
            changes.extend(_of_keyword(source, function, name, neutral(name, "v")))
    return Edit(tuple(changes), {functions[name]: name for name in functions})


def _of_function(source: Source, name: str, new: str) -> Iterator[Change]:
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id == name:
            yield replaced(*source.span(node), new)
        elif isinstance(node, ast.FunctionDef) and node.name == name:
            start = source.span(node)[0]
            at = source.text.index(name, start + len("def"))
            yield replaced(at, at + len(name), new)


def _names(function: Function) -> defaultdict[str, list[ast.Name]]:
    """The places of each name in a function's statements."""
    found: defaultdict[str, list[ast.Name]] = defaultdict(list)
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                found[node.id].append(node)
    return found


def _of_local(source: Source, function: Function, places: Sequence[ast.Name], name: str, new: str) -> Iterator[Change]:
    for argument in parameters(function):
        if argument.arg == name:
            start = source.span(argument)[0]
            yield replaced(start, start + len(name), new)
    for node in places:
        yield replaced(*source.span(node), new)


def _of_keyword(source: Source, function: Function, name: str, new: str) -> Iterator[Change]:
    for call in source.calls.get(function.name, ()):
        for keyword in call.keywords:
            if keyword.arg == name:
                start = source.span(keyword)[0]
                yield replaced(start, start + len(name), new)


def _free_functions(source: Source) -> Iterator[str]:
    """The functions that only this file knows: kernels, and private ones."""
    kept = source.strings | _in_formatted_strings(source)
    for function in source.tree.body:
        if not isinstance(function, ast.FunctionDef) or source.bindings[function.name] != 1:
            continue
        name = function.name
        if not (source.is_kernel(function) or name.startswith("_")) or name.startswith("__") or name in kept:
            continue
        if not source.package.naming(name, source.path) and not _is_asked_for(source, name):
            yield name


def _is_asked_for(source: Source, name: str) -> bool:
    """Whether something has the name as that of an attribute or a keyword."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == name) or (isinstance(node, ast.keyword) and node.arg == name)
        for node in source.nodes
    )


def _free_parameters(source: Source, function: Function, known: Scope) -> set[str]:
    """The parameters that all who call the function by keyword can be informed of."""
    calls = source.calls.get(function.name, [])
    if (
        function not in source.tree.body
        or source.bindings[function.name] != 1
        or len(calls) != _uses(source, function.name)
        or any(keyword.arg is None for call in calls for keyword in call.keywords)
        or not _may_change(source, function)
    ):
        return set()
    elsewhere = source.package.naming(function.name, source.path)
    if any("**" in text for text in elsewhere):
        return set()
    names = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)} & known.plain
    if not _is_tritons_alone(source, function):
        names -= {one.arg for one in parameters(function) if _is_constexpr(one)}
    return {
        name
        for name in names
        if name not in source.strings
        and not any(re.search(rf"\b{name}\s*=[^=]|[\"']{name}[\"']", text) for text in elsewhere)
    }


def _may_change(source: Source, function: Function) -> bool:
    """Whether nothing but calls asks for its parameters: a kernel, or a function that nothing decorates."""
    return source.is_kernel(function) or not function.decorator_list


def _is_tritons_alone(source: Source, function: Function) -> bool:
    """Whether only Triton's own decorators are at the function, and what they are given is written there."""
    for decorator in function.decorator_list:
        origin = source.origin_of(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if not origin.startswith("triton.") or origin.rpartition(".")[2] not in _TRITONS_OWN:
            return False
        if any(not _is_written(source, name) for name in _names_in_arguments(decorator)):
            return False
    return True


def _names_in_arguments(decorator: ast.expr) -> Iterator[ast.Name]:
    if isinstance(decorator, ast.Call):
        bound = {one.arg for node in ast.walk(decorator) if isinstance(node, ast.Lambda) for one in parameters(node)}
        for node in ast.walk(decorator):
            if isinstance(node, ast.Name) and node.id not in bound and isinstance(node.ctx, ast.Load):
                yield node


def _is_written(source: Source, name: ast.Name) -> bool:
    """Whether the name is Triton's, or a loop's of the decorator itself, or Python's."""
    parent = source.parents[name]
    is_module = isinstance(parent, ast.Attribute) and source.origin_of(name).startswith("triton")
    return is_module or name.id in ("range", "min", "max", "dict", "list", "int", "len")


def _is_constexpr(argument: ast.arg) -> bool:
    return argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)


def _uses(source: Source, name: str) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in source.nodes)


def _in_formatted_strings(source: Source) -> frozenset[str]:
    return frozenset(
        node.id
        for text in source.nodes
        if isinstance(text, ast.JoinedStr)
        for node in ast.walk(text)
        if isinstance(node, ast.Name)
    )
