"""From a line and column, as the compiler gives them, to the expression of the source that is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.compile.facts import AccessKind
from tritonaudit.finding import Span
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Unparsable, dotted_name, parse, span_of

_READS = ("load", "gather")
_CALLS = {
    AccessKind.LOAD: _READS,
    AccessKind.ASYNC_COPY: _READS,
    AccessKind.BULK_COPY: (*_READS, "store", "scatter"),
    AccessKind.STORE: ("store", "scatter"),
    AccessKind.ATOMIC: ("atomic",),
}
_MEMORY = ("load", "store", "atomic", "gather", "scatter")


@dataclass(frozen=True)
class _Expression:
    """Where it begins (`offset` in bytes, from 1, as the compiler counts), and how likely it is what is meant."""

    offset: int
    rank: int
    span: Span


@dataclass(frozen=True)
class _Call:
    """A call by the last part of its name; `start` and `end` are (line, byte offset from 1), the end exclusive."""

    name: str
    start: tuple[int, int]
    end: tuple[int, int]
    span: Span

    def holds(self, line: int, columns: tuple[int, ...]) -> bool:
        return any(self.start <= (line, column) < self.end for column in columns)


@dataclass(frozen=True)
class _File:
    """Its lines, the expressions by line, and the indentation of the innermost function that a line belongs to."""

    lines: list[str]
    expressions: dict[int, list[_Expression]]
    indents: dict[int, int]
    calls: list[_Call]


@dataclass(frozen=True)
class Place:
    """What stands in a line: `what` is "load", "store" or the like where it is one memory access, else "line"."""

    span: Span
    what: str = "line"


_DEF = re.compile(r"\s*(?:async\s+)?def\s+(?P<name>\w+)")
_UNREADABLE = _File([], {}, {}, [])


class Places:
    """What stands at a place of a file; each file is read once."""

    def __init__(self, texts: Mapping[str, bytes] | None = None) -> None:
        self._files = {path: _file_of(text) for path, text in (texts or {}).items()}
        self._reads = texts is None

    def expression(self, path: str, line: int, column: int) -> Span:
        """The expression that begins there, a memory access before what is made of it; else that one character.

        Before Triton 3.9, columns in an indented kernel count from its indentation; both are looked at.
        """
        file = self._file(path)
        columns = (column, column + file.indents.get(line, 0))
        found = [expression for expression in file.expressions.get(line, ()) if expression.offset in columns]
        best = max(found, key=lambda expression: (expression.rank, -expression.offset), default=None)
        return Span(line, column, line, column + 1) if best is None else best.span

    def access(self, path: str, line: int, column: int, kind: AccessKind) -> Span:
        """The memory access of this kind in which that place is, the innermost; else the expression that begins there.

        Before Triton 3.9 the compiler says where one of its arguments stands.
        """
        file = self._file(path)
        wanted = _CALLS[kind]
        columns = (column, column + file.indents.get(line, 0))
        around = [call for call in file.calls if call.name.startswith(wanted) and call.holds(line, columns)]
        if not around:
            return self.expression(path, line, column)
        return max(around, key=lambda call: (call.span.line, call.span.column)).span

    def line(self, path: str, line: int) -> Place:
        """What stands in that line: the one memory access that does, or else the expression that begins it."""
        file = self._file(path)
        found = [
            call
            for call in file.calls
            if call.name.startswith(_MEMORY) and call.span.line <= line <= call.span.end_line
        ]
        if len(found) == 1:
            return Place(found[0].span, next(word for word in _MEMORY if found[0].name.startswith(word)))
        text = "".join(file.lines[line - 1 : line])
        return Place(self.expression(path, line, len(text) - len(text.lstrip()) + 1))

    def name(self, path: str, line: int) -> Span:
        """The name of the function whose `def` stands in that line."""
        text = self._file(path).lines[line - 1 : line]
        found = _DEF.match(text[0]) if text else None
        if found is None:
            return Span(line, 1, line, 2)
        return Span(line, found.start("name") + 1, line, found.end("name") + 1)

    def _file(self, path: str) -> _File:
        if path not in self._files:
            self._files[path] = _read(path) if self._reads else _UNREADABLE
        return self._files[path]


def _read(path: str) -> _File:
    try:
        return _file_of(Path(path).read_bytes())
    except OSError:
        return _UNREADABLE


def _file_of(data: bytes) -> _File:
    try:
        text = decode(data)
        tree = parse(text)
    except (Undecodable, Unparsable):
        return _UNREADABLE
    lines = text.split("\n")
    found: dict[int, list[_Expression]] = {}
    for node in _expressions(tree):
        expression = _Expression(node.col_offset + 1, _rank(node), span_of(node, lines))
        found.setdefault(node.lineno, []).insert(0, expression)  # inner ones first, so that they win where equal
    calls = [_call(node, lines) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return _File(lines, found, _indents(tree), calls)


def _call(node: ast.Call, lines: list[str]) -> _Call:
    end = (node.end_lineno or node.lineno, (node.end_col_offset or node.col_offset) + 1)
    return _Call(_called(node), (node.lineno, node.col_offset + 1), end, span_of(node, lines))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else (dotted_name(node.func) or "")


def _indents(tree: ast.AST) -> dict[int, int]:
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {
        line: function.col_offset
        for function in functions  # outer ones first
        for line in range(function.lineno, (function.end_lineno or function.lineno) + 1)
    }


def _expressions(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Outer ones before what they hold."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) or (isinstance(node, ast.stmt) and not hasattr(node, "body")):
            yield node


def _rank(node: ast.expr | ast.stmt) -> int:
    """How likely the compiler means this one of the nodes that begin at one place."""
    if isinstance(node, ast.Call):
        return 3 if _called(node).startswith(_MEMORY) else 2
    return 0 if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)) else 1
