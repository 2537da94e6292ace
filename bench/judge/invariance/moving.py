"""`moved`: the kernels of a file stand in another one of the same folder and are imported from there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bench.judge.invariance.changes import Change, Edit, Kept, Moved, New, Part
from bench.judge.invariance.scopes import loaded, stored
from bench.judge.invariance.source import Source

_COPIED = (ast.Import, ast.ImportFrom)
_MOVED = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
_OF_IMPORTS = (
    *(ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Pass, ast.If, ast.Try),
    ast.Expr,
)


def moved(source: Source) -> Edit:
    """All kernels that can do without the wrappers move, with what they need; the old file imports it."""
    definers = _definers(source)
    going: set[ast.stmt] = set()
    copied: set[ast.stmt] = set()
    for kernel in source.plain_kernels.values():
        needed = _needed(source, kernel.node, definers)
        if needed is not None:
            going |= {one for one in needed if isinstance(one, _MOVED)}
            copied |= needed
    if not going or any(_is_launcher(source, one) for one in going) or not _is_early(source, going):
        return Edit()
    statements = [one for one in source.tree.body if one in going or one in copied or _is_import(one)]
    file = source.fresh(f"{source.path.stem}_kernels")
    names = [name for one in source.tree.body if one in going for name in sorted(_names(one))]
    return Edit(tuple(_left(source, going, file, names)), moved=(Moved(f"{file}.py", _parts(source, statements)),))


def _definers(source: Source) -> dict[str, list[ast.stmt]]:
    """The statements of the module that bind each name."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in source.tree.body:
        for name in _names(statement):
            found.setdefault(name, []).append(statement)
    return found


def _names(statement: ast.stmt) -> set[str]:
    """The names that a statement binds in the module."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    return stored(statement)


def _needed(source: Source, kernel: ast.stmt, definers: dict[str, list[ast.stmt]]) -> set[ast.stmt] | None:
    """The kernel and all statements that it needs; None where one of them cannot go or be there twice."""
    found: set[ast.stmt] = set()
    pending = [kernel]
    for statement in pending:  # which grows while it is read
        if statement in found or isinstance(statement, _COPIED):
            continue
        if not _can_go(source, statement, definers):
            return None
        found.add(statement)
        for name in sorted(_read(statement)):
            pending.extend(definers.get(name, ()))
    return found


def _read(statement: ast.stmt) -> set[str]:
    """The names that a statement reads, now or when it is called; those in annotations, too."""
    return loaded(statement)


def _can_go(source: Source, statement: ast.stmt, definers: dict[str, list[ast.stmt]]) -> bool:
    names = _names(statement)
    is_single = all(len(definers[name]) == 1 for name in names)
    asks = {"__file__", "__name__", "globals", "__package__"} & loaded(statement)
    if isinstance(statement, _MOVED):
        assigned = all(_is_name(target) for target in getattr(statement, "targets", ()))
        is_changed = any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in source.nodes)
        return is_single and assigned and not asks and not is_changed and source.is_alone(statement)
    inside = (node for node in ast.walk(statement) if isinstance(node, ast.stmt))
    return (
        is_single and not asks and all(isinstance(node, _OF_IMPORTS) for node in inside) and source.is_alone(statement)
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _is_launcher(source: Source, statement: ast.stmt) -> bool:
    return bool(source.launches_in(statement))


def _is_early(source: Source, going: set[ast.stmt]) -> bool:
    """Whether no statement of the module that stays changes what goes: by an assignment to a part of it."""
    names = {name for one in going for name in _names(one)}
    return not any(
        isinstance(node, (ast.Attribute, ast.Subscript))
        and not isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        for node in source.nodes
    )


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, _COPIED)


def _left(source: Source, going: set[ast.stmt], file: str, names: list[str]) -> Iterator[Change]:
    """The old file imports at the place of the first statement that goes what is no longer there."""
    dot = "." if (source.path.parent / "__init__.py").exists() else ""
    text = f"from {dot}{file} import {', '.join(dict.fromkeys(names))}\n"
    for statement in source.tree.body:
        if statement in going:
            start, end = source.lines_of(statement)
            yield Change(start, end, (New(text, start, start),) if text else ())
            text = ""


def _parts(source: Source, statements: list[ast.stmt]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for statement in statements:
        start, end = source.lines_of(statement)
        gap = "\n\n" if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else ""
        parts += [New(gap, start, start), Kept(start, end)]
    return tuple(parts)
