"""Whether users may call a wrapper with what they like, or only its callers in the project do. Only text is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.kernel.project import Project
from tritonaudit.shown import shown_path
from tritonaudit.source.outline import Module, dotted_name
from tritonaudit.subject.guess.usage import parameters_of
from tritonaudit.subject.wrappers import Wrapper

_FOR_TESTS = re.compile(r"(?:^|/)(?:tests?|benchmarks?|bench|examples?)/|(?:^|/)(?:test_|bench_|conftest)")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entrance:
    """Which tensors users may give a wrapper as they like: those of these parameters, or all where that is None.

    `doubt` says why that may be none.
    """

    free: frozenset[str] | None = None
    doubt: str = ""


def entrance_of(wrapper: Wrapper, project: Project) -> Entrance:
    """What users may give it, as far as is known.

    That is anything for a public function that nobody in the project calls, and for one that has callers what these
    hand on as they were given it themselves.
    """
    calls = list(_calls(wrapper, project))
    if not calls:
        is_private = wrapper.name.startswith("_")
        return Entrance(doubt="who calls it, as its name is private" if is_private else "")
    free = frozenset(name for _, function, call in calls for name in _handed_on(wrapper, function, call))
    module, _, call = calls[0]
    place = f"{shown_path(Path(module.path))}:{call.lineno}"
    return Entrance(free, "" if free else f"whether its callers, such as {place}, give such tensors")


def _calls(wrapper: Wrapper, project: Project) -> Iterator[tuple[Module, _Function | None, ast.Call]]:
    """The calls of it in the project, each with the innermost function around it; tests are left out."""
    head, _, method = wrapper.name.rpartition(".")
    name = head.rpartition(".")[2] if method == "apply" and head else wrapper.name
    for module in (wrapper.module, *project.files_naming(wrapper.module, name)):
        if not _FOR_TESTS.search(module.path.removeprefix(str(project.root))):
            for function, call in _calls_in(module.tree, None):
                called = dotted_name(call.func) or ""
                spelled = called.removesuffix(".apply") if method == "apply" and head else called
                if spelled.rpartition(".")[2] == name and function is not wrapper.node:
                    yield module, function, call


def _calls_in(node: ast.AST, function: _Function | None) -> Iterator[tuple[_Function | None, ast.Call]]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Call):
            yield function, inner
        yield from _calls_in(inner, inner if isinstance(inner, _Function) else function)


def _handed_on(wrapper: Wrapper, function: _Function | None, call: ast.Call) -> Iterator[str]:
    """The parameters for which a call passes one of the function around it, as that was given it."""
    if function is None:
        return
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    assigned = {node.id for node in stored}
    given = function.args
    unchanged = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)} - assigned
    positional = [one.arg for one in parameters_of(wrapper)]
    passed = [*zip(positional, call.args, strict=False), *((one.arg, one.value) for one in call.keywords)]
    for name, value in passed:
        if name is not None and isinstance(value, ast.Name) and value.id in unchanged:
            yield name
