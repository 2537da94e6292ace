"""The part of a module that some of its names need: its statements without those that only others need.

Nothing is imported or run: text goes in, a tree comes out.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Imported:
    """A name that a module takes from another: from that one, `level` packages up; all of it where `member` is None."""

    name: str
    module: str
    member: str | None
    level: int
    attributes: frozenset[str] | None
    """Of a whole module, or of all of its names, those that are used; None where it is used in other ways, too."""


@dataclass(frozen=True)
class Slice:
    """Statements in their order, less the imports, which are listed; and the lines of the definitions among them."""

    tree: ast.Module
    imports: tuple[Imported, ...]
    definitions: frozenset[int]


@dataclass
class _Statement:
    """A statement of a module's own level: the names that it binds, needs and changes in place."""

    node: ast.stmt
    binds: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, (ast.Import, ast.ImportFrom))


def sliced(tree: ast.Module, wanted: Collection[str], roots: Collection[ast.stmt] = ()) -> Slice:
    """What the wanted names of a module need, and what certain statements of its own level do.

    What changes something in place that is kept is kept as well, unless it is another module's.
    """
    statements = [_read(node) for node in tree.body if not _is_main(node)]
    kept = {id(one) for one in statements if one.node in roots}
    needed = set(wanted)
    defined = {name for one in statements if not one.is_import for name in one.binds}
    while True:
        more = [
            one
            for one in statements
            if id(one) not in kept and (one.binds & needed or one.changes & needed & defined) and not one.is_import
        ]
        loads = {name for one in statements if id(one) in kept for name in one.loads}
        if not more and loads <= needed:
            break
        kept |= {id(one) for one in more}
        needed |= loads
    chosen = [one for one in statements if id(one) in kept]
    inner = [node for one in chosen for node in ast.walk(one.node)]
    return Slice(
        ast.Module([_future(), *(one.node for one in chosen)], []),
        tuple(_imports((one.node for one in statements if one.is_import), needed, defined, inner)),
        frozenset(line for node in inner for line in _lines(node)),
    )


def binding(tree: ast.Module, name: str) -> list[ast.stmt]:
    """The statements of a module's own level that bind a name."""
    return [node for node in tree.body if name in _read(node).binds]


def _future() -> ast.stmt:
    node = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)
    return ast.fix_missing_locations(node)


def _is_main(node: ast.stmt) -> bool:
    """Whether it is what a file does as a program."""
    return isinstance(node, ast.If) and "__name__" in {
        one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)
    }


def _lines(node: ast.AST) -> Iterator[int]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.lineno


def _read(node: ast.stmt) -> _Statement:
    statement = _Statement(node)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        statement.binds = {_bound(alias) for alias in node.names}
        return statement
    statement.binds = set(_bindings(node))
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            statement.loads.add(inner.id)
    statement.changes = set(_changes(node))
    return statement


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _bindings(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds in its module, in its branches, too."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from map(_bound, node.names)
    for child in ast.iter_child_nodes(node):
        yield from _bindings(child)


def _changes(node: ast.stmt) -> Iterator[str]:
    """The names whose objects a statement changes in place, as far as it shows that."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Attribute, ast.Subscript)) and isinstance(inner.ctx, (ast.Store, ast.Del)):
            yield from _root(inner)
    if isinstance(node, ast.AugAssign):
        yield from _root(node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _root(node.value.func)


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _imports(
    nodes: Iterable[ast.stmt], needed: Collection[str], defined: Collection[str], inner: Collection[ast.AST]
) -> Iterator[Imported]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _bound(alias) in needed:
                    name = _bound(alias)
                    module = alias.name if alias.asname else name
                    yield Imported(name, module, None, 0, _attributes(name, inner))
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                if alias.name == "*":
                    names = frozenset(needed) - frozenset(defined)
                    yield Imported("*", node.module or "", "*", node.level, names)
                elif _bound(alias) in needed:
                    yield Imported(
                        _bound(alias), node.module or "", alias.name, node.level, _attributes(_bound(alias), inner)
                    )


def _attributes(name: str, inner: Collection[ast.AST]) -> frozenset[str] | None:
    """The attributes of a name that are used, if it is used in no other way."""
    owners = [node for node in inner if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    used = [node for node in owners if isinstance(node.value, ast.Name) and node.value.id == name]
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in inner)
    return frozenset(node.attr for node in used) if uses == len(used) else None
