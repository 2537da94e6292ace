"""From a line and column, as the compiler gives them, to the expression of the source that is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.finding import Span
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Unparsable, dotted_name, parse, span_of

_MEMORY = ("load", "store", "atomic", "gather", "scatter")


@dataclass(frozen=True)
class _Expression:
    """Where it begins (`offset` in bytes, from 1, as the compiler counts), and how likely it is what is meant."""

    offset: int
    rank: int
    span: Span


@dataclass(frozen=True)
class _File:
    """Its lines, the expressions by line, and the indentation of the innermost function that a line belongs to."""

    lines: list[str]
    expressions: dict[int, list[_Expression]]
    indents: dict[int, int]


_DEF = re.compile(r"\s*(?:async\s+)?def\s+(?P<name>\w+)")
_UNREADABLE = _File([], {}, {})


class Places:
    """What stands at a place of a file; each file is read once."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def expression(self, path: str, line: int, column: int) -> Span:
        """The expression that begins there, a memory access before what is made of it; else that one character.

        Before Triton 3.9, columns in an indented kernel count from its indentation; both are looked at.
        """
        file = self._file(path)
        columns = (column, column + file.indents.get(line, 0))
        found = [expression for expression in file.expressions.get(line, ()) if expression.offset in columns]
        best = max(found, key=lambda expression: (expression.rank, -expression.offset), default=None)
        return Span(line, column, line, column + 1) if best is None else best.span

    def name(self, path: str, line: int) -> Span:
        """The name of the function whose `def` stands in that line."""
        text = self._file(path).lines[line - 1 : line]
        found = _DEF.match(text[0]) if text else None
        if found is None:
            return Span(line, 1, line, 2)
        return Span(line, found.start("name") + 1, line, found.end("name") + 1)

    def _file(self, path: str) -> _File:
        if path not in self._files:
            self._files[path] = _read(path)
        return self._files[path]


def _read(path: str) -> _File:
    try:
        text = decode(Path(path).read_bytes())
        tree = parse(text)
    except (OSError, Undecodable, Unparsable):
        return _UNREADABLE
    lines = text.split("\n")
    found: dict[int, list[_Expression]] = {}
    for node in _expressions(tree):
        expression = _Expression(node.col_offset + 1, _rank(node), span_of(node, lines))
        found.setdefault(node.lineno, []).insert(0, expression)  # inner ones first, so that they win where equal
    return _File(lines, found, _indents(tree))


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
        name = (dotted_name(node.func) or "").rpartition(".")[2]
        return 3 if name.startswith(_MEMORY) else 2
    return 0 if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)) else 1
