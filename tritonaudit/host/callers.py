"""Who calls whom in the host code: the functions that lead to a launch and that nobody calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from tritonaudit.host.scopes import Files, Scope, Scopes, Unevaluated
from tritonaudit.host.values import Class, Frame, Function, Kernel, Symbol
from tritonaudit.source.nodes import Nodes
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_MOST_ENTRIES, _MOST_HOPS, _MOST_FILES = 6, 8, 12
_OUTER = "it belongs to the function around it"


class Project(Files, Protocol):
    """The files of a project, and those that name a function."""

    def files_naming(self, module: Module, name: str) -> list[Module]:
        """The other files that may use what a module has by that name."""


@dataclass(frozen=True)
class Entry:
    """A function of the host code, with the functions and classes around it, the outermost first."""

    node: ast.FunctionDef
    scope: Scope
    around: tuple[ast.FunctionDef | ast.ClassDef, ...] = ()

    @property
    def is_method(self) -> bool:
        decorators = {node.id for node in self.node.decorator_list if isinstance(node, ast.Name)}
        return bool(self.around) and isinstance(self.around[-1], ast.ClassDef) and "staticmethod" not in decorators

    @property
    def called(self) -> str:
        """What calls of it are written with: `C.apply` for the `forward` of a class, `.name` for another method."""
        owner = self.around[-1] if self.around else None
        if not isinstance(owner, ast.ClassDef):
            return self.node.name
        return f"{owner.name}.apply" if self.node.name == "forward" and not self.is_method else f".{self.node.name}"

    def frame(self) -> Frame:
        """The names around it, of which those of functions are not known."""
        frame = Frame(self.scope)
        for outer in self.around:
            if isinstance(outer, ast.FunctionDef):
                frame = Frame(self.scope, _names_of(outer, frame), frame)
        return frame


def _names_of(outer: ast.FunctionDef, frame: Frame) -> dict[str, object]:
    nodes = Nodes(outer)
    names = {arg.arg for arg in nodes.of(ast.arg)}
    names |= {node.id for node in nodes.of(ast.Name) if isinstance(node.ctx, ast.Store)}
    found: dict[str, object] = {name: Symbol(("outer", id(outer), name), name, _OUTER) for name in names}
    inner = (node for node in outer.body if isinstance(node, ast.FunctionDef))
    return {**found, **{node.name: frame.scope.defined(node, frame) for node in inner}}


class Callers:
    """The calls of a project, file by file as they are asked for."""

    def __init__(self, scopes: Scopes, project: Project) -> None:
        self._scopes = scopes
        self._project = project
        self._calling: dict[str, dict[str, list[Entry]]] = {}
        self._naming: dict[str, dict[str, list[Entry]]] = {}

    def launching(self, scope: Scope, path: str, kernel: JitFunction) -> Iterator[Entry]:
        """The outermost functions of the module that speak of the kernel, which stands in the file of the path."""
        yield from (entry for _, entry in self._naming_it(scope, path, kernel))

    def is_launched(self, scope: Scope, path: str, kernel: JitFunction) -> bool:
        """Whether one of them does more than call it as it is, as is done with functions that make kernels."""
        for name, entry in self._naming_it(scope, path, kernel):
            nodes = entry.scope.module.nodes(entry.node)
            called = {id(call.func) for call in nodes.of(ast.Call)}
            if any(node.id == name and id(node) not in called for node in nodes.of(ast.Name)):
                return True
        return False

    def _naming_it(self, scope: Scope, path: str, kernel: JitFunction) -> Iterator[tuple[str, Entry]]:
        for name, entries in self._index(scope)[1].items():
            found = scope.look_up(name)
            is_kernel = isinstance(found, Kernel) and found.stands_at(path, kernel.first_line)
            if is_kernel or (name == kernel.name and kernel.scope is not None):
                yield from ((name, entry) for entry in entries)

    def entries(self, wrapper: Entry) -> tuple[tuple[Entry, ...], str]:
        """The functions that nobody calls and that lead to the wrapper; what may be missing, in words."""
        found = [one for one, _, is_called in self._leading(wrapper) if not is_called]
        doubt = "" if len(found) <= _MOST_ENTRIES else f"{len(found) - _MOST_ENTRIES} of its callers are not followed"
        return tuple(found[:_MOST_ENTRIES]), doubt

    def between(self, wrapper: Entry) -> Iterator[tuple[Entry, ...]]:
        """The functions that lead to the wrapper and are called, by how far they are from it, itself as the last."""
        leading = [(one, hops) for one, hops, is_called in self._leading(wrapper) if is_called or one is wrapper]
        for hops in sorted({hops for _, hops in leading}, reverse=True):
            yield tuple(one for one, away in leading if away == hops)[:_MOST_ENTRIES]

    def _leading(self, wrapper: Entry) -> list[tuple[Entry, int, bool]]:
        """The wrapper and the functions that lead to it, how far each is from it, and whether others call it."""
        found: list[tuple[Entry, int, bool]] = []
        reached, pending = {wrapper}, [(wrapper, 0)]
        for one, hops in pending:  # which grows while it is read
            callers = [caller for caller in self.callers(one) if caller is not one] if hops < _MOST_HOPS else []
            new = [caller for caller in callers if caller not in reached]
            found.append((one, hops, bool(callers)))
            reached.update(new)
            pending.extend((caller, hops + 1) for caller in new)
        return found

    def callers(self, called: Entry) -> list[Entry]:
        """The functions that call it, those of tests left out: what they pass is not all that is passed."""
        names = {called.called, *_aliases(called)}
        found = [caller for name in sorted(names) for caller in self._index(called.scope)[0].get(name, ())]
        for name in sorted({name.partition(".")[0] for name in names} - {""}):
            files = self._project.files_naming(called.scope.module, name)[:_MOST_FILES]
            for module in files:
                scope = self._scopes.of(module)
                if not _is_test(module) and _is(scope.look_up(name), called):
                    rest = {known.partition(".")[2] for known in names if known.partition(".")[0] == name}
                    spelled = [name if not end else f"{name}.{end}" for end in sorted(rest)]
                    found.extend(caller for one in spelled for caller in self._index(scope)[0].get(one, ()))
        return [one for one in dict.fromkeys(found) if one.node is not called.node]

    def forget(self, module: Module) -> None:
        """Functions of the file are no more what they were."""
        self._calling.pop(module.path, None)

    def _index(self, scope: Scope) -> tuple[dict[str, list[Entry]], dict[str, list[Entry]]]:
        """The outermost functions of a module by the names that they call, and by those that they use."""
        path = scope.module.path
        if path not in self._calling:
            self._calling[path], self._naming[path] = {}, {}
            for node, around in scope.functions():
                if not any(isinstance(outer, ast.FunctionDef) for outer in around):
                    self._read(path, Entry(node, scope, around), scope.module.nodes(node))
        return self._calling[path], self._naming[path]

    def _read(self, path: str, entry: Entry, nodes: Nodes) -> None:
        for call in nodes.of(ast.Call):
            owner, _, last = (dotted_name(call.func) or "").rpartition(".")
            is_module = not owner or isinstance(entry.scope.look_up(owner), Scope)
            for name in {last} if is_module else {f"{owner}.{last}", f".{last}"}:
                _add(self._calling[path], name, entry)
        for name in {node.id for node in nodes.of(ast.Name)}:
            _add(self._naming[path], name, entry)


def _add(index: dict[str, list[Entry]], name: str, entry: Entry) -> None:
    entries = index.setdefault(name, [])
    if entry not in entries:
        entries.append(entry)


def _aliases(called: Entry) -> Iterator[str]:
    """`f` of `f = C.apply` at the module's own level."""
    for name, node in called.scope.module.constants.items():
        if dotted_name(node) == called.called:
            yield name
    for name, origin in called.scope.module.names.items():
        if origin == called.called:
            yield name


def _is(found: object, called: Entry) -> bool:
    """Whether what a name of another file means is the function, or the class that it belongs to."""
    if isinstance(found, (Function, Class)):
        nodes = (called.node, *called.around)
        is_same_file = found.frame.scope.module.path == called.scope.module.path
        return is_same_file and found.node.lineno in [node.lineno for node in nodes]
    return isinstance(found, Unevaluated) and found.scope.module.path == called.scope.module.path


def _is_test(module: Module) -> bool:
    return PurePath(module.path).name.startswith("test_") or "pytest" in module.names or "unittest" in module.names
