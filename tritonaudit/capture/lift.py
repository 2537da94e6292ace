"""A kernel and all that it needs, taken out of its project as text that can be run without importing the project."""

from __future__ import annotations

import ast
import copy
import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tritonaudit.capture.blank import Selection, blanked
from tritonaudit.capture.decorators import Role, role_of
from tritonaudit.capture.names import Blocks, Scope, blocks_of, names_read, scope_tree
from tritonaudit.kernel.launch import launches_of
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_LIBRARIES = sys.stdlib_module_names | {"torch", "triton", "numpy", "packaging"}
LIFTED = "_lifted_"
"""What the name of every lifted file begins with."""
STAND_IN = "__stand_in__"
"""What lifted text calls to stand in for something by its dotted name."""
_MOST_STATEMENTS = 400
_MOST_HOPS = 8


@dataclass(frozen=True)
class LiftedFile:
    """What is needed of one file: its absolute path, the text with all else blanked out, the name to import it by."""

    path: str
    text: str
    name: str


@dataclass(frozen=True)
class Lifted:
    """A kernel without its project: `kernel` of the file named `module`. `assumptions` says what was left out."""

    files: tuple[LiftedFile, ...]
    module: str
    kernel: str
    assumptions: tuple[str, ...] = ()


class CannotLift(Exception):
    """The kernel cannot stand without its project."""


def lift(project: Project, function: Function) -> Lifted:
    """Take the kernel out of its project, with helpers and constants from its file and others of the checkout.

    Raises CannotLift.
    """
    lifter = _Lifter(project, function)
    lifter.kernel()
    try:
        files = tuple(_rendered(part) for part in lifter.parts.values() if part.nodes)
    except SyntaxError as error:
        raise CannotLift(f"its file cannot be taken apart: {error.msg}, line {error.lineno}") from None
    return Lifted(files, lifter.entry.name, function.jit.name, tuple(lifter.assumptions))


@dataclass
class _Part:
    """One file as far as it is needed."""

    module: Module
    name: str
    scope: Scope
    selection: Selection = field(default_factory=Selection)
    imports: dict[int, dict[str, None]] = field(default_factory=dict)
    nodes: dict[int, ast.stmt] = field(default_factory=dict)
    looked_up: set[tuple[int, str, bool]] = field(default_factory=set)


@dataclass(frozen=True)
class _Need:
    """A name that is read in a scope of a file, and whether the compiler will ask for it."""

    part: _Part
    scope: Scope
    dotted: str
    compiled: bool

    @property
    def head(self) -> str:
        return self.dotted.partition(".")[0]

    def elsewhere(self, part: _Part, dotted: str) -> _Need:
        """The same need in another file."""
        return _Need(part, part.scope, dotted, self.compiled)


def _rendered(part: _Part) -> LiftedFile:
    for key, lines in part.imports.items():
        part.selection.statements[key] = "; ".join(lines) or "pass"
    text = blanked(part.module.text, part.module.tree, part.selection)
    return LiftedFile(os.path.abspath(part.module.path), text, part.name)


class _Lifter:
    """Follows names from a kernel to the statements that give them their meaning, file by file."""

    def __init__(self, project: Project, function: Function) -> None:
        self._project = project
        self._function = function
        self._jit: dict[str, dict[int, JitFunction]] = {}
        self._waiting: list[_Need] = []
        self.parts: dict[str, _Part] = {}
        self.assumptions: dict[str, None] = {}
        self.entry = self._part(function.module)

    def kernel(self) -> None:
        """Select the kernel and whatever it leads to."""
        node = self._function.jit.node
        scope, blocks = _place_of(self.entry.scope, node)
        self._open(self.entry, scope, blocks, node)
        self._keep(self.entry, scope, node, compiled=True)
        self._made_kernel(scope)
        self._waiting.extend(_Need(self.entry, scope, name, True) for name in self._functions_passed())
        while self._waiting:
            need = self._waiting.pop(0)
            if sum(len(part.nodes) for part in self.parts.values()) > _MOST_STATEMENTS:
                self._assume("only part of what the kernel's decorators and constants need was taken")
                break
            self._look_up(need)

    def _part(self, module: Module) -> _Part:
        path = os.path.abspath(module.path)
        if path not in self.parts:
            entry = self._function
            identity = f"{entry.module.path}:{entry.jit.qualname}:{entry.jit.first_line}:{path}"
            digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
            stem = "".join(c if c.isalnum() else "_" for c in os.path.basename(path).removesuffix(".py"))
            self.parts[path] = part = _Part(module, f"{LIFTED}{stem}_{digest}", scope_tree(module.tree))
            for statement in module.tree.body:
                if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                    part.selection.statements[id(statement)] = None
        return self.parts[path]

    def _assume(self, sentence: str) -> None:
        self.assumptions[sentence] = None

    # -- statements --------------------------------------------------------------------------------------------------

    def _keep(self, part: _Part, scope: Scope, node: ast.stmt, compiled: bool) -> None:
        """Select a statement, and look up what it reads."""
        if id(node) in part.nodes:
            return
        part.nodes[id(node)] = node
        part.selection.statements[id(node)] = None
        if isinstance(node, ast.FunctionDef) and id(node) in self._jit_functions(part.module):
            bare = copy.copy(node)
            bare.decorator_list = []
            self._read(part, scope, [bare], compiled=True)
            self._read(part, scope, list(self._read_by_decorators(part, node)), compiled=False)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self._imports_within(_Need(part, scope, "", False), node)
            self._read(part, scope, [node], compiled=False)
        else:
            self._read(part, scope, [node], compiled)

    def _read(self, part: _Part, scope: Scope, nodes: list[ast.AST], compiled: bool) -> None:
        self._waiting.extend(_Need(part, scope, dotted, compiled) for dotted in sorted(names_read(nodes)))

    def _jit_functions(self, module: Module) -> dict[int, JitFunction]:
        if module.path not in self._jit:
            self._jit[module.path] = {id(function.node): function for function in module.jit}
        return self._jit[module.path]

    def _read_by_decorators(self, part: _Part, node: ast.FunctionDef) -> Iterator[ast.AST]:
        """What is read by decorators of Triton's, and by others that stand for one of them."""
        for decorator in node.decorator_list:
            role = role_of(decorator, part.module)
            if role is Role.FOREIGN:
                part.selection.dropped.add(id(decorator))
                self._assume(f"the decorator `{_called(decorator)}` is left out")
            elif role is Role.OWN:
                yield decorator
            elif isinstance(decorator, ast.Call):
                yield from (*decorator.args, *(keyword.value for keyword in decorator.keywords))

    def _open(self, part: _Part, scope: Scope, blocks: Blocks, node: ast.stmt) -> None:
        """Make sure that a statement in functions, classes and blocks is run."""
        for block in blocks:
            part.selection.opened[id(block)] = _block_with(block, node)
        if scope.parent is not None:
            assert isinstance(scope.node, ast.stmt)
            part.selection.opened[id(scope.node)] = 0
            self._open(part, scope.parent, scope.blocks, scope.node)

    def _enclose(self, part: _Part, scope: Scope, blocks: Blocks) -> None:
        """Run the conditions around a kept statement as they are."""
        for block in blocks:
            if id(block) in part.selection.opened or id(block) in part.nodes:
                continue
            part.nodes[id(block)] = block
            if isinstance(block, ast.If):
                self._read(part, scope, [block.test], compiled=False)
            elif isinstance(block, ast.Try):
                types: list[ast.AST] = [handler.type for handler in block.handlers if handler.type is not None]
                self._read(part, scope, types, compiled=False)

    # -- names -------------------------------------------------------------------------------------------------------

    def _look_up(self, need: _Need) -> None:
        """Select what gives the name its meaning, seen from its scope."""
        key = (id(need.scope), need.dotted, need.compiled)
        if key in need.part.looked_up:
            return
        need.part.looked_up.add(key)
        found = need.scope.binding_scope(need.head)
        if found is None:
            if not self._from_star(need) and need.compiled:
                self._assume(f"`{need.head}` has no meaning that could be found")
        elif need.head in found.bindings:
            for node, blocks in found.bindings[need.head]:
                self._bind(need, found, node, blocks)
        else:
            self._give(need.part, found, need.head)

    def _bind(self, need: _Need, scope: Scope, node: ast.stmt, blocks: Blocks) -> None:
        if any(isinstance(block, (ast.With, ast.For, ast.While)) for block in blocks):
            return  # such a block binds the name as a whole
        self._enclose(need.part, scope, blocks)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            need.part.nodes[id(node)] = node
            self._import(need, node, in_try=any(isinstance(block, ast.Try) for block in blocks))
        else:
            self._keep(need.part, scope, node, need.compiled)

    def _give(self, part: _Part, scope: Scope, name: str) -> None:
        """A parameter of a function around the kernel has the value of its default."""
        assert isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        default = _default_of(scope.node.args, name)
        if default is None:
            self._assume(f"`{name}` is a parameter of `{scope.node.name}`, which nothing gives")
            return
        part.selection.given.setdefault(id(scope.node), {})[name] = ast.unparse(default)
        assert scope.parent is not None
        self._read(part, scope.parent, [default], compiled=True)
        self._assume(f"`{name}` of `{scope.node.name}` is {ast.unparse(default)}, its default")

    def _made_kernel(self, scope: Scope) -> None:
        """`kernel = triton.autotune(…)(kernel)` after the kernel's `def` belongs to it."""
        name = self._function.jit.name
        for node, blocks in scope.bindings.get(name, ()):
            if isinstance(node, ast.Assign) and not blocks and name in names_read([node.value]):
                self._keep(self.entry, scope, node, compiled=False)

    def _functions_passed(self) -> Iterator[str]:
        """Jit functions that launches in the file pass to the kernel."""
        for launch in launches_of(self.entry.module).get(self._function.jit, ()):
            for node in launch.arguments.values():
                dotted = dotted_name(launch.definition(node))
                if dotted is not None and self._project.resolve(self._function, dotted) is not None:
                    yield dotted

    # -- imports -----------------------------------------------------------------------------------------------------

    def _import(self, need: _Need, node: ast.Import | ast.ImportFrom, in_try: bool) -> None:
        lines = need.part.imports.setdefault(id(node), {})
        for alias in node.names:
            bound = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])
            if bound == need.head:
                line = self._import_line(need, node, alias)
                if line is None and in_try:
                    line = "raise ImportError"
                elif line is None and need.compiled:
                    self._assume(f"`{bound}` is imported from outside the checkout")
                    line = f"{bound} = {STAND_IN}({_origin(node, alias, bound)!r})"
                lines.update({line: None} if line else {})

    def _imports_within(self, need: _Need, node: ast.AST) -> None:
        """Imports in a function's own body are made as they can be, or fail when the function is called."""
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Import, ast.ImportFrom)):
                lines = [
                    self._import_line(replace(need, dotted=alias.asname or alias.name), inner, alias)
                    for alias in inner.names
                ]
                line = "; ".join(line or "raise ImportError" for line in lines)
                need.part.selection.patches.append((inner, line))

    def _import_line(self, need: _Need, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str | None:
        """The import as it can be made without the project; None where what it imports cannot be had."""
        rename = f" as {alias.asname}" if alias.asname else ""
        if isinstance(node, ast.Import):
            if _is_library(alias.name):
                return f"import {alias.name}{rename}"
            return self._import_module(need, alias)
        source = "." * node.level + (node.module or "")
        if not node.level and _is_library(source):
            return f"from {source} import {alias.name}{rename}"
        if alias.name == "tl":
            return f"import triton.language as {alias.asname or 'tl'}"
        return f"import triton{rename}" if alias.name == "triton" else self._import_name(need, source, alias)

    def _import_module(self, need: _Need, alias: ast.alias) -> str | None:
        """`import a` or `import a.b as c` of a file of the checkout."""
        target = self._project.imported(need.part.module, alias.name)
        if target is None or (alias.asname is None and "." in alias.name):
            return None
        other = self._part(target)
        prefix = alias.asname or alias.name
        if need.dotted.startswith(f"{prefix}."):
            self._waiting.append(need.elsewhere(other, need.dotted.removeprefix(f"{prefix}.")))
        return f"import {other.name} as {prefix}"

    def _import_name(self, need: _Need, source: str, alias: ast.alias) -> str | None:
        """`from source import name` out of a file of the checkout, where `name` may be a file itself."""
        bound = alias.asname or alias.name
        rest = need.dotted.partition(".")[2]
        target = self._project.imported(need.part.module, source)
        if target is not None and target is not need.part.module:  # in a package, `from . import name` is a file
            other = self._part(target)
            if self._binds(other, alias.name):
                self._waiting.append(need.elsewhere(other, f"{alias.name}.{rest}" if rest else alias.name))
                return f"from {other.name} import {alias.name} as {bound}"
        separator = "" if source.endswith(".") else "."
        inner = self._project.imported(need.part.module, f"{source}{separator}{alias.name}")
        if inner is None:
            return None
        other = self._part(inner)
        if rest:
            self._waiting.append(need.elsewhere(other, rest))
        return f"import {other.name} as {bound}"

    def _binds(self, part: _Part, name: str, hops: int = 0) -> bool:
        if name in part.scope.bindings:
            return True
        return hops < _MOST_HOPS and any(self._binds(other, name, hops + 1) for _, _, other in self._starred(part))

    def _starred(self, part: _Part) -> Iterator[tuple[ast.ImportFrom, Blocks, _Part]]:
        """The files of the checkout that a file imports everything from."""
        for node, blocks in part.scope.stars:
            target = self._project.imported(part.module, "." * node.level + (node.module or ""))
            if target is not None and target is not part.module:
                yield node, blocks, self._part(target)

    def _from_star(self, need: _Need) -> bool:
        """Whether `from module import *` gives the name its meaning."""
        for node, blocks, other in self._starred(need.part):
            if self._binds(other, need.head):
                self._import_star(need.part, node, blocks, f"from {other.name} import {need.head}")
                self._waiting.append(need.elsewhere(other, need.dotted))
                return True
        for node, blocks in need.part.scope.stars:
            if not node.level and node.module and _is_library(node.module):
                self._import_star(need.part, node, blocks, f"from {node.module} import *")
                return True
        return False

    def _import_star(self, part: _Part, node: ast.ImportFrom, blocks: Blocks, line: str) -> None:
        part.nodes[id(node)] = node
        part.imports.setdefault(id(node), {})[line] = None
        self._enclose(part, part.scope, blocks)


def _origin(node: ast.Import | ast.ImportFrom, alias: ast.alias, bound: str) -> str:
    """The dotted name of what is imported."""
    if isinstance(node, ast.Import):
        return alias.name if alias.asname else bound
    return f"{node.module}.{alias.name}" if node.module else alias.name


def _is_library(name: str) -> bool:
    return name.partition(".")[0] in _LIBRARIES


def _called(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return dotted_name(node) or ast.unparse(node)


def _place_of(scope: Scope, node: ast.stmt) -> tuple[Scope, Blocks]:
    """The scope in which the function is defined, and the blocks around it there."""
    for inner in scope.inner:
        if inner.node is node:
            return scope, inner.blocks
        if isinstance(inner.node, ast.stmt) and inner.node.lineno <= node.lineno <= (inner.node.end_lineno or 0):
            return _place_of(inner, node)
    raise CannotLift("it stands where no statement of its file defines it")


def _block_with(block: ast.stmt, node: ast.stmt) -> int:
    """The number of the statement's block that holds the node."""
    for number, body in enumerate(blocks_of(block)):
        if any(inner.lineno <= node.lineno <= (inner.end_lineno or inner.lineno) for inner in body):
            return number
    raise CannotLift("it stands where no statement of its file defines it")


def _default_of(args: ast.arguments, name: str) -> ast.expr | None:
    positional = [*args.posonlyargs, *args.args]
    defaults = dict(zip((arg.arg for arg in reversed(positional)), reversed(args.defaults), strict=False))
    keywords = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    defaults.update({arg.arg: default for arg, default in keywords if default is not None})
    return defaults.get(name)
