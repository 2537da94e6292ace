"""Where a wrapper makes the host wait for the GPU, as its source tells.

`synchronize()` is never needed: what uses a result waits by itself. A value that is fetched from the GPU before
anything is launched may be what a launch needs; fetched after a launch, or in a loop that launches, it stalls the GPU.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tritonaudit.capture.launch import KernelRef
from tritonaudit.gate.sources import Sources
from tritonaudit.host.scopes import Scope, Scopes, Unevaluated
from tritonaudit.host.values import Class, Function, Value
from tritonaudit.source.outline import Module, dotted_name

_WAITING = "synchronize"
_FETCHING = frozenset(("item", "cpu", "tolist", "numpy"))
_CALLED = ("forward", "__call__")
"""What calling an object runs."""

_Body = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Wait:
    """A call that waits: file, line and the text of it."""

    path: str
    line: int
    text: str


class UnknownWrapper(Exception):
    """The wrapper's source cannot be had."""


def waits(wrapper: KernelRef, sources: Sources) -> tuple[Wait, ...]:
    """The needless waits in a wrapper and in what it calls, in the order of its text. Raises UnknownWrapper."""
    module = sources.module(wrapper.path)
    start = None if module is None else _start(module, wrapper)
    if module is None or start is None:
        raise UnknownWrapper(f"the source of `{wrapper.name}` is not available")
    events = list(_Walk(sources).run(module, *start))
    launched = False
    found: list[Wait] = []
    for event in events:
        launched |= event.does is _Does.LAUNCH
        if event.does is _Does.WAIT or (event.does is _Does.FETCH and launched):
            found.append(event.at)
    return tuple(dict.fromkeys(found))


class _Does(Enum):
    LAUNCH = "launch"
    WAIT = "wait"
    FETCH = "fetch"


@dataclass(frozen=True)
class _Event:
    does: _Does
    at: Wait


def _start(module: Module, wrapper: KernelRef) -> tuple[_Body, ast.ClassDef | None] | None:
    """What calling the wrapper runs, and the class that it is a method of."""
    classes = [node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
    for owner in classes:
        if owner.lineno == wrapper.line:
            method = next((one for name in _CALLED if (one := _method(owner, name)) is not None), None)
            return None if method is None else (method, owner)
    at_line = [node for node in ast.walk(module.tree) if isinstance(node, _Body) and node.lineno == wrapper.line]
    for node in sorted(at_line, key=lambda node: isinstance(node, ast.Lambda)):
        return node, next((owner for owner in classes if node in owner.body), None)
    return None


def _method(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == name), None)


class _Walk:
    """Goes through functions in the order in which they run; each is entered once."""

    def __init__(self, sources: Sources) -> None:
        self._scopes = Scopes(sources.project)
        self._entered: set[ast.AST] = set()

    def run(self, module: Module, body: _Body, owner: ast.ClassDef | None) -> Iterator[_Event]:
        if body in self._entered:
            return
        self._entered.add(body)
        statements: Sequence[ast.AST] = [body.body] if isinstance(body, ast.Lambda) else body.body
        for statement in statements:
            yield from self._visit(module, statement, owner)

    def _visit(self, module: Module, node: ast.AST, owner: ast.ClassDef | None) -> Iterator[_Event]:
        if isinstance(node, (*_BODIES, ast.ClassDef)):
            return  # which runs where it is called
        inside = [event for child in ast.iter_child_nodes(node) for event in self._visit(module, child, owner)]
        yield from inside
        if isinstance(node, _LOOPS) and any(event.does is _Does.LAUNCH for event in inside):
            yield from inside  # the next round comes after the launches of this one
        if isinstance(node, ast.Call):
            yield from self._called(module, node, owner)

    def _called(self, module: Module, call: ast.Call, owner: ast.ClassDef | None) -> Iterator[_Event]:
        at = Wait(module.path, call.lineno, ast.unparse(call))
        if isinstance(call.func, ast.Subscript):
            yield _Event(_Does.LAUNCH, at)
        elif does := _does(call):
            yield _Event(does, at)
        elif (found := self._function(module, call, owner)) is not None:
            yield from self.run(*found)

    def _function(
        self, module: Module, call: ast.Call, owner: ast.ClassDef | None
    ) -> tuple[Module, _Body, ast.ClassDef | None] | None:
        """What the call runs, where that is known."""
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            method = _method(owner, call.func.attr) if owner is not None and call.func.value.id == "self" else None
            if method is not None:
                return module, method, owner
        name = dotted_name(call.func)
        found = None if name is None else self._named(self._scopes.of(module), name)
        if not isinstance(found, Function) or not isinstance(found.node, ast.FunctionDef):
            return None
        return found.frame.scope.module, found.node, None

    def _named(self, scope: Scope, dotted: str) -> Value:
        """What a dotted name is; the `apply` of an autograd function runs its `forward`."""
        head, _, rest = dotted.partition(".")
        found = scope.look_up(head)
        if isinstance(found, Unevaluated) and (alias := dotted_name(found.node)) is not None and alias != dotted:
            found = self._named(found.scope, alias)
        if isinstance(found, Scope) and rest:
            return self._named(found, rest)
        if isinstance(found, Class):
            forward = _method(found.node, "forward") if rest == "apply" else None
            return None if forward is None else Function(forward, found.frame)
        return found if not rest else None


_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.While)


def _does(call: ast.Call) -> _Does | None:
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr == _WAITING:
        return _Does.WAIT
    to_host = call.func.attr == "to" and bool(call.args) and _is_cpu(call.args[0])
    return _Does.FETCH if call.func.attr in _FETCHING or to_host else None


def _is_cpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "cpu"
