"""Whether users may call a wrapper with what they like, or only its callers in the project do. Only text is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tritonaudit.kernel.project import Project
from tritonaudit.shown import shown_path
from tritonaudit.source.outline import Module, dotted_name
from tritonaudit.subject.wrappers import Wrapper

_FOR_TESTS = re.compile(r"(?:^|/)(?:tests?|benchmarks?|bench|examples?)/|(?:^|/)(?:test_|bench_|conftest)")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def why_not_for_users(wrapper: Wrapper, project: Project) -> Iterator[str]:
    """What keeps users from giving it any tensors, as far as is known.

    That is nothing for a public function that nobody in the project calls, and for one that some caller hands on to
    what it was given itself.
    """
    calls = list(_calls(wrapper, project))
    if calls and not any(_hands_on(function, call) for _, function, call in calls):
        module, _, call = calls[0]
        yield f"whether its callers, such as {shown_path(Path(module.path))}:{call.lineno}, give such tensors"
    elif not calls and wrapper.name.startswith("_"):
        yield "who calls it, as its name is private"


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


def _hands_on(function: _Function | None, call: ast.Call) -> bool:
    """Whether what the call passes are parameters of the function around it, as they were given to that."""
    if function is None:
        return False
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = {one.id for one in arguments if isinstance(one, ast.Name)}
    assigned = {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    given = function.args
    parameters = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    first = arguments[0] if arguments else None
    return isinstance(first, ast.Name) and first.id in names & parameters - assigned
