"""What the names of a file stand for, where that is certain: a name that is bound in two ways stands for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonaudit.kernel.project import Project
from tritonaudit.source.nodes import statements_in
from tritonaudit.source.outline import Module, dotted_name

_MAX_HOPS = 4


@dataclass(frozen=True)
class Import:
    """One name of an import statement: what it is called in the file, and its dotted origin."""

    node: ast.Import | ast.ImportFrom
    alias: ast.alias
    name: str
    origin: str

    @property
    def spelled(self) -> str:
        """What must exist for the import to work."""
        if isinstance(self.node, ast.Import):
            return self.alias.name
        source = "." * self.node.level + (self.node.module or "")
        return source if self.alias.name == "*" else _below(source, self.alias.name)


@dataclass(frozen=True)
class Bindings:
    """All that binds names in a file, except inside functions, where imports alone are looked at."""

    imports: tuple[Import, ...]
    values: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    functions: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)

    @staticmethod
    def of(module: Module) -> Bindings:
        imports = tuple(_imports(module))
        found = Bindings(imports)
        for node in _statements(module.tree.body):
            found._bind(node)
        return found

    def _bind(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef):
            self.functions.setdefault(node.name, []).append(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind_target(target, node.value)
        elif isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef)):
            self.values.setdefault(node.name, []).append(None)
        elif isinstance(node, (ast.For, ast.AugAssign)):
            self._bind_target(node.target, None)

    def _bind_target(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)
        else:
            for inner in ast.walk(target):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    self.values.setdefault(inner.id, []).append(None)

    def sole(self, name: str) -> Import | ast.expr | ast.FunctionDef | None:
        """The one thing that binds the name; None where several do, or nothing that says what it is."""
        origins = {found.origin: found for found in self.imports if found.name == name}
        every = [*origins.values(), *self.values.get(name, ()), *self.functions.get(name, ())]
        return every[0] if len(every) == 1 else None

    def bound(self, name: str) -> bool:
        return name in self.values or name in self.functions or any(found.name == name for found in self.imports)


class Origins:
    """Resolves names of files, through the files of the project that they are imported from."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._bindings: dict[str, tuple[Module, Bindings]] = {}

    def bindings(self, module: Module) -> Bindings:
        """What binds names in the file; their nodes are those of this reading of it."""
        known = self._bindings.get(module.path)
        if known is None or known[0] is not module:
            known = self._bindings[module.path] = (module, Bindings.of(module))
        return known[1]

    def forget(self, module: Module) -> None:
        """Let go of a file that is done with."""
        self._bindings.pop(module.path, None)

    def of(self, module: Module, name: str) -> str | None:
        """The dotted origin in Triton of a name of the file; None where it is another's, or not certain."""
        return self._of(module, name, 0)

    def _of(self, module: Module, name: str, hops: int) -> str | None:
        sole = self.bindings(module).sole(name)
        if isinstance(sole, ast.expr):
            return self._alias(module, name, sole, hops)
        if not isinstance(sole, Import) or hops > _MAX_HOPS:
            return None
        if is_triton(sole.origin):
            return None if self._is_own(module, sole) else sole.origin
        source, _, last = sole.origin.rpartition(".")
        other = self._project.imported(module, source or ".") if source else None
        return None if other is None or other is module else self._of(other, last, hops + 1)

    def _is_own(self, module: Module, found: Import) -> bool:
        """`from . import triton` of a file of the project's, and `import triton as backend`, which may be one."""
        if is_triton(found.spelled):
            return False
        renamed = found.alias.asname not in (None, found.alias.name)
        return renamed or self._project.imported(module, found.spelled) is not None

    def _alias(self, module: Module, name: str, value: ast.expr, hops: int) -> str | None:
        """`exp = tl.exp` at the file's own level."""
        dotted = dotted_name(value)
        if dotted is None or "." not in dotted or hops > _MAX_HOPS:
            return None
        head, _, rest = dotted.partition(".")
        origin = None if head == name else self._of(module, head, hops + 1)
        return f"{origin}.{rest}" if origin else None

    def found(self, module: Module, name: str) -> tuple[Module, Import | ast.expr | ast.FunctionDef | None]:
        """The one thing that binds the name, in this file or in that of the project which it is imported from."""
        sole = self.bindings(module).sole(name)
        for _ in range(_MAX_HOPS):
            if not isinstance(sole, Import) or "." not in sole.origin:
                break
            source, _, last = sole.origin.rpartition(".")
            other = self._project.imported(module, source or ".")
            if other is None or other is module:
                break
            module, sole = other, self.bindings(other).sole(last)
        return module, sole


def is_triton(origin: str) -> bool:
    """Whether a dotted name is Triton or something in it."""
    return origin == "triton" or origin.startswith("triton.")


def _imports(module: Module) -> Iterator[Import]:
    for node in _import_statements(module):
        for alias in node.names:
            name = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])
            if isinstance(node, ast.Import):
                yield Import(node, alias, name, alias.name if alias.asname else name)
            else:
                yield Import(node, alias, name, _origin(node, alias.name))


def _origin(node: ast.ImportFrom, name: str) -> str:
    source = "." * node.level + (node.module or "")
    if name == "tl" or (name == "triton" and source.rpartition(".")[2] != "triton"):
        return "triton.language" if name == "tl" else "triton"  # as a project re-exports them
    return _below(source, name)


def _below(source: str, name: str) -> str:
    return f"{source}{name}" if source.endswith(".") else f"{source}.{name}"


def _import_statements(module: Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in _statements(module.tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and _may_import(module, node):
            yield from (inner for inner in statements_in(node) if isinstance(inner, (ast.Import, ast.ImportFrom)))


def _may_import(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any("import" in line for line in module.lines[node.lineno : node.end_lineno])


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and of the blocks in it, not of the functions and classes."""
    for node in body:
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, None) or [])
        for handler in getattr(node, "handlers", None) or []:
            yield from _statements(handler.body)
