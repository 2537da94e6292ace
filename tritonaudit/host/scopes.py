"""What the names of a module mean, those imported from other files of the project included."""

from __future__ import annotations

import ast
import sys
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from tritonaudit.host.values import Class, External, Frame, Function, Kernel, Symbol, Value
from tritonaudit.source.nodes import spans
from tritonaudit.source.outline import Module

_LIBRARIES = frozenset(sys.stdlib_module_names) | {"torch", "triton", "numpy", "einops", "packaging"}
_BLOCKS = ("body", "handlers", "orelse", "finalbody")
_MOST_HOPS = 8

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr


class Files(Protocol):
    """The files of a project."""

    def imported(self, importer: Module, source: str) -> Module | None:
        """The file that `source`, dotted, names in an import of `importer`."""


class Reads(Protocol):
    """A run, as far as it notes the functions whose text it rests on."""

    read: set[ast.AST]


@dataclass(frozen=True)
class Unevaluated:
    """A name that is set to an expression at the module's own level."""

    node: ast.expr
    scope: Scope


class Scope:
    """One module: what its names are defined as. Expressions are left for the evaluator, which knows numbers."""

    def __init__(self, module: Module, scopes: Scopes) -> None:
        self.module = module
        self.values: dict[str, Value] = {}
        self.decorations: dict[Kernel, Any] = {}
        self.read: set[ast.AST] = set()
        self.frame = Frame(self)
        self._scopes = scopes
        self._kernels = {id(jit.node): Kernel(jit, self) for jit in module.jit}
        self._names: dict[str, list[Definition]] = {}
        self._imports: dict[str, tuple[str, str]] = {}
        self._starred: list[str] = []
        self._found: dict[str, Value] = {}
        self._changed: set[str] = set()
        self._read(module.tree.body)

    def _read(self, body: list[ast.stmt], is_tried: bool = False) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._define(node.name, node, is_tried)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                self._assign(node.targets if isinstance(node, ast.Assign) else [node.target], node.value, is_tried)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self._changed.add(node.target.id)
            else:
                for name in _BLOCKS:
                    for block in getattr(node, name, None) or ():
                        inner = block.body if isinstance(block, ast.ExceptHandler) else [block]
                        self._read(inner, is_tried or isinstance(node, ast.Try))

    def _define(self, name: str, node: Definition, is_tried: bool) -> None:
        known = self._names.setdefault(name, [])
        if not (is_tried and (known or name in self._imports)):
            known.append(node)

    def _assign(self, targets: list[ast.expr], value: ast.expr, is_tried: bool) -> None:
        for target in targets:
            if isinstance(target, ast.Name):
                self._define(target.id, value, is_tried)
            elif isinstance(target, (ast.Tuple, ast.List)):
                for index, element in enumerate(target.elts):
                    part = ast.Subscript(value=value, slice=ast.Constant(index), ctx=ast.Load())
                    self._assign([element], ast.fix_missing_locations(ast.copy_location(part, value)), is_tried)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                self._imports.setdefault(name, (alias.name if alias.asname else name, ""))
            return
        source = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self._starred.append(source)
            else:
                self._imports.setdefault(alias.asname or alias.name, (source, alias.name))

    @contextmanager
    def reading(self, run: Reads) -> Iterator[None]:
        """While it lasts, what is evaluated is the module's own, which counts for every run from then on."""
        outer, run.read = run.read, set()
        try:
            yield
        finally:
            self.read |= run.read
            run.read = outer

    def follow(self, replaced: Mapping[ast.AST, ast.FunctionDef]) -> None:
        """Some of its functions have other bodies now; a kernel stays the same one for all who know it."""
        for name, known in self._names.items():
            self._names[name] = [replaced.get(node, node) for node in known]
        for jit in self.module.jit:
            if id(jit.node) not in self._kernels:
                kernel = next(one for one in self._kernels.values() if replaced.get(one.function.node) is jit.node)
                del self._kernels[id(kernel.function.node)]
                kernel.function = jit
                self._kernels[id(jit.node)] = kernel

    def forget(self, gone: Container[ast.AST]) -> None:
        """Functions of its or of another file are no more what they were."""
        is_gone = [name for name, found in self._found.items() if isinstance(found, Function) and found.node in gone]
        for name in is_gone:
            del self._found[name]

    def look_up(self, name: str, hops: int = 0) -> Value:
        """What the name is; None where the module does not know it."""
        if name not in self._found:
            self._found[name] = None  # should it be imported in a circle
            self._found[name] = self._look_up(name, hops)
        return self._found[name]

    def _look_up(self, name: str, hops: int) -> Value:
        found = self._own(name)
        if found is not None or hops >= _MOST_HOPS:
            return found
        if name in self._imports:
            return self.imported(*self._imports[name], hops)
        for source in self._starred:
            scope = self._scopes.named(self.module, source)
            starred = None if scope is None or scope is self else scope.look_up(name, hops + 1)
            if starred is not None:
                return starred
        return None

    def _own(self, name: str) -> Value:
        definitions = self._names.get(name)
        if not definitions:
            return None
        last = definitions[-1]
        if isinstance(last, ast.expr):
            if len(definitions) > 1 or name in self._changed:
                return Symbol((self.module.path, name), name, f"`{name}` is set in several places of its module")
            return Unevaluated(last, self)
        return self.defined(last, self.frame)

    def defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, frame: Frame) -> Value:
        """The function, kernel or class that a definition makes."""
        if isinstance(node, ast.ClassDef):
            return Class(node, frame)
        return self._kernels.get(id(node)) or Function(node, frame)

    def jit_of(self, function: Function) -> Kernel | None:
        """The kernel that a function is made by `triton.jit(function)`."""
        return self._kernels.get(id(function.node))

    def imported(self, source: str, name: str, hops: int = 0) -> Value:
        """What `from source import name` gives, or `import source`."""
        if name == "tl":
            return External("triton.language")
        if name == "triton":
            return External("triton")
        if source.partition(".")[0] in _LIBRARIES:
            return External(f"{source}.{name}" if name else source)
        scope = self._scopes.named(self.module, source)
        if not name:
            return External(source) if scope is None else scope
        found = None if scope is None or scope is self else scope.look_up(name, hops + 1)
        if found is not None:
            return found
        joint = "" if source.endswith(".") else "."
        inner = self._scopes.named(self.module, f"{source}{joint}{name}")
        return External(f"{source}.{name}") if inner is None else inner

    def functions(self) -> Iterator[tuple[ast.FunctionDef, tuple[ast.FunctionDef | ast.ClassDef, ...]]]:
        """The functions of the module that are no kernels, each with the functions and classes around it."""
        stack: list[tuple[ast.AST, tuple[ast.FunctionDef | ast.ClassDef, ...]]] = [(self.module.tree, ())]
        while stack:
            parent, around = stack.pop()
            for name in (*_BLOCKS, "cases"):
                for node in getattr(parent, name, None) or ():
                    if isinstance(node, ast.FunctionDef):
                        if id(node) not in self._kernels:
                            yield node, around
                            stack.append((node, (*around, node)))
                    else:
                        stack.append((node, (*around, node) if isinstance(node, ast.ClassDef) else around))

    def function_at(self, line: int) -> tuple[ast.FunctionDef, tuple[ast.FunctionDef | ast.ClassDef, ...]] | None:
        """The outermost function around the line."""
        around = [(node, outer) for node, outer in self.functions() if spans(node, line)]
        return min(around, key=lambda found: len(found[1]), default=None)


class Scopes:
    """The modules of a project, each read once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._by_path: dict[str, Scope] = {}
        self._by_name: dict[tuple[str, str], Scope | None] = {}

    def of(self, module: Module) -> Scope:
        if module.path not in self._by_path:
            self._by_path[module.path] = Scope(module, self)
        return self._by_path[module.path]

    def follow(self, module: Module, replaced: Mapping[ast.AST, ast.FunctionDef]) -> None:
        """Some functions of a file that may have been read have other bodies now."""
        known = self._by_path.get(module.path)
        if known is not None and known.module is module:
            known.follow(replaced)
        for scope in self._by_path.values():
            scope.forget(replaced)

    def rest_on(self, functions: Container[ast.AST]) -> bool:
        """Whether what a module sets its names to was computed by one of these."""
        return any(node in functions for scope in self._by_path.values() for node in scope.read)

    def are_of(self, module: Module) -> bool:
        """Whether what was read of the file, if anything, is this text of it."""
        known = self._by_path.get(module.path)
        return known is None or known.module.text == module.text

    def named(self, importer: Module, source: str) -> Scope | None:
        """The module that an import names, where it stands in the project."""
        key = (importer.path, source)
        if key not in self._by_name:
            found = self._files.imported(importer, source)
            self._by_name[key] = None if found is None else self.of(found)
        return self._by_name[key]
