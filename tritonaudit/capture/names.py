"""Which names a piece of a file reads, and which of its statements give names their meaning."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonaudit.source.outline import dotted_name

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MUTATORS = frozenset(("append", "extend", "insert", "update", "add", "setdefault"))


def names_read(nodes: list[ast.AST]) -> set[str]:
    """The dotted names, `a.b.c`, that the nodes read from around them; builtins left out.

    A name that is set as well counts where it is read first.
    """
    reader = _Reader()
    for node in nodes:
        reader.visit(node)
    local = reader.bound
    return {
        dotted
        for dotted, place in reader.read.items()
        if (head := dotted.partition(".")[0]) not in _BUILTINS and place < local.get(head, _NEVER)
    }


_Place = tuple[int, int]
_NEVER: _Place = (1 << 60, 0)


class _Reader(ast.NodeVisitor):
    """Collects the first place where each name is read, and where each is set."""

    def __init__(self) -> None:
        self.read: dict[str, _Place] = {}
        self.bound: dict[str, _Place] = {}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = dotted_name(node)
        if dotted is None:
            self.generic_visit(node)
        else:
            self._reads(dotted, node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._reads(node.id, node)
        else:
            self._binds(node.id, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)  # before the targets, as Python does
        end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        for target in node.targets:
            for inner in ast.walk(target):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    self.bound.setdefault(inner.id, end)
            self.visit(target)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for outside in (*node.decorator_list, *_outside(node.args), *([node.returns] if node.returns else [])):
            self.visit(outside)
        self._binds(node.name, node)
        self._inner(node.body, node.args)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in _outside(node.args):
            self.visit(default)
        self._inner([node.body], node.args)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outside in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(outside)
        self._binds(node.name, node)
        self._inner(node.body, None)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        bound = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        self._merge(list(ast.iter_child_nodes(node)), bound)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._binds(alias.asname or alias.name.partition(".")[0], node)

    visit_ImportFrom = visit_Import

    def _inner(self, body: list[ast.stmt] | list[ast.expr], args: ast.arguments | None) -> None:
        parameters = set() if args is None else {arg.arg for arg in ast.walk(args) if isinstance(arg, ast.arg)}
        self._merge(list(body), parameters)

    def _merge(self, nodes: list[ast.AST], bound: set[str]) -> None:
        """What an inner scope reads from around it is read here."""
        inner = _Reader()
        for node in nodes:
            inner.visit(node)
        for dotted, place in inner.read.items():
            head = dotted.partition(".")[0]
            if head not in bound and place < inner.bound.get(head, _NEVER):
                self.read.setdefault(dotted, place)

    def _reads(self, dotted: str, node: ast.expr) -> None:
        self.read.setdefault(dotted, (node.lineno, node.col_offset))

    def _binds(self, name: str, node: ast.stmt | ast.expr) -> None:
        self.bound.setdefault(name, (node.lineno, node.col_offset))


def _outside(args: ast.arguments) -> list[ast.expr]:
    """What a function's signature reads when it is defined: defaults and annotations."""
    annotations = [arg.annotation for arg in ast.walk(args) if isinstance(arg, ast.arg) and arg.annotation is not None]
    return [*args.defaults, *(default for default in args.kw_defaults if default is not None), *annotations]


# -- scopes --------------------------------------------------------------------------------------------------------

Blocks = tuple[ast.stmt, ...]  # the compound statements around a statement, outermost first


@dataclass
class Scope:
    """A module, function or class body: which statements bind a name in it, and what it is itself bound within."""

    node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    parent: Scope | None = None
    blocks: Blocks = ()
    bindings: dict[str, list[tuple[ast.stmt, Blocks]]] = field(default_factory=dict)
    stars: list[tuple[ast.ImportFrom, Blocks]] = field(default_factory=list)
    inner: list[Scope] = field(default_factory=list)

    def parameter(self, name: str) -> bool:
        """Whether it is a function's own parameter."""
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
            arg.arg == name for arg in ast.walk(self.node.args) if isinstance(arg, ast.arg)
        )

    def binding_scope(self, name: str) -> Scope | None:
        """The innermost scope, this one or one around it, that gives the name its meaning; a class gives none."""
        scope: Scope | None = self
        while scope is not None:
            if (scope is self or not isinstance(scope.node, ast.ClassDef)) and (
                name in scope.bindings or scope.parameter(name)
            ):
                return scope
            scope = scope.parent
        return None


def scope_tree(tree: ast.Module) -> Scope:
    """The scopes of a file."""
    scope = Scope(tree)
    _read_body(scope, tree.body, ())
    return scope


def _read_body(scope: Scope, body: list[ast.stmt], blocks: Blocks) -> None:
    for node in body:
        for name in _bound_names(node):
            scope.bindings.setdefault(name, []).append((node, blocks))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            scope.stars.append((node, blocks))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = Scope(node, scope, blocks)
            scope.inner.append(inner)
            _read_body(inner, node.body, ())
        elif isinstance(node, (ast.If, ast.Try)):
            for block in blocks_of(node):
                _read_body(scope, block, (*blocks, node))
        elif isinstance(node, (ast.With, ast.AsyncWith, ast.For, ast.While)):
            _read_inner_scopes(scope, node, (*blocks, node))


def _read_inner_scopes(scope: Scope, node: ast.stmt, blocks: Blocks) -> None:
    """The functions in a block that is kept or left as a whole."""
    holder = Scope(scope.node, scope.parent, scope.blocks)
    for block in blocks_of(node):
        _read_body(holder, block, blocks)
    for inner in holder.inner:
        inner.parent = scope
        scope.inner.append(inner)


def blocks_of(node: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a compound statement, in the order of the text."""
    found: list[list[ast.stmt]] = [node.body] if hasattr(node, "body") else []
    found.extend(handler.body for handler in getattr(node, "handlers", ()))
    found.extend(block for name in ("orelse", "finalbody") if (block := getattr(node, name, None)))
    return found


def _bound_names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a meaning, or changes."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            owner = node.value.func.value
            if isinstance(owner, ast.Name) and node.value.func.attr in _MUTATORS:
                yield owner.id
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _target_names(target)
    elif isinstance(node, (ast.With, ast.AsyncWith, ast.For, ast.While)):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.stmt) and inner is not node:
                yield from _bound_names(inner)


def _target_names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        yield target.value.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _target_names(element)
    elif isinstance(target, ast.Starred):
        yield from _target_names(target.value)
