"""A file to be edited: its text, its syntax tree, and what the other files of its package say of its names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.judge.invariance.changes import line_starts
from tritonaudit.source.outline import JitFunction, Module, dotted_name, outline

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Package:
    """The texts of the Python files of a package."""

    texts: dict[Path, str]

    @staticmethod
    def read(folder: Path) -> Package:
        return Package({path: path.read_text("utf-8", "replace") for path in folder.rglob("*.py") if path.is_file()})

    def naming(self, name: str, but: Path) -> list[str]:
        """The texts of the other files that hold the name."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return [text for path, text in self.texts.items() if name in text and path != but and word.search(text)]


@dataclass(frozen=True)
class Source:
    """A file with kernels."""

    path: Path
    text: str
    package: Package

    @cached_property
    def tree(self) -> ast.Module:
        return self._outline.tree

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree, which most edits go through."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        """The calls and launches in the file, by the dotted name of what is called."""
        found: dict[str, list[ast.Call]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Call):
                called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
                found.setdefault(dotted_name(called) or "", []).append(node)
        return found

    @cached_property
    def kernels(self) -> tuple[JitFunction, ...]:
        """All functions that Triton compiles."""
        return self._outline.jit

    @cached_property
    def plain_kernels(self) -> dict[str, JitFunction]:
        """Those at the module's own level whose names nothing else there or in a function has."""
        return {
            kernel.name: kernel
            for kernel in self.kernels
            if kernel.scope is None and kernel.node in self.tree.body and self.bindings[kernel.name] == 1
        }

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The functions that stand in no other one, in the order of the text."""
        return tuple(_outermost(self.tree))

    @cached_property
    def bindings(self) -> Counter[str]:
        """How often each name is bound, anywhere in the file."""
        return Counter(_bindings(self.tree))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word in the text, comments and strings included."""
        return frozenset(re.findall(r"\w+", self.text))

    @cached_property
    def strings(self) -> frozenset[str]:
        """The strings in the file."""
        values = (node.value for node in self.nodes if isinstance(node, ast.Constant))
        return frozenset(value for value in values if isinstance(value, str))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """What each node stands in."""
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts."""
        return line_starts(self.text)

    def origin_of(self, node: ast.expr) -> str:
        """What a chain of attributes is elsewhere: `tl.load` is `triton.language.load`."""
        return self._outline.origin_of(node)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node starts and ends."""
        return self._place(node.lineno, node.col_offset), self._place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def text_of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def lines_of(self, node: ast.stmt) -> tuple[int, int]:
        """A statement's lines, those of its decorators included: where the first starts and where the last ends."""
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or node.lineno
        return self.starts[first - 1], self.starts[last] if last < len(self.starts) else len(self.text)

    def is_alone(self, node: ast.stmt) -> bool:
        """Whether the statement has its lines to itself, but for a comment after it."""
        start, end = self.span(node)
        begin, after = self.lines_of(node)
        behind = self.text[end:after].strip()
        before = self.text[begin:start] if not getattr(node, "decorator_list", ()) else ""
        return not before.strip() and (not behind or behind[0] == "#")

    def indent(self, node: ast.stmt) -> str:
        """The whitespace before a statement."""
        begin = self.starts[node.lineno - 1]
        return self.text[begin : begin + len(self.text[begin:]) - len(self.text[begin:].lstrip(" \t"))]

    def fresh(self, name: str) -> str:
        """The name, or the first with a number after it, that is no word of the file."""
        names = (name, *(f"{name}_{number}" for number in range(2, 10_000)))
        return next(one for one in names if one not in self.words)

    def launched(self, call: ast.Call) -> str | None:
        """The plain kernel that a call launches, or calls."""
        called = call.func.value if isinstance(call.func, ast.Subscript) else call.func
        is_plain = isinstance(called, ast.Name) and called.id in self.plain_kernels
        return called.id if is_plain and isinstance(called, ast.Name) else None

    def launches_in(self, node: ast.AST) -> list[str]:
        """The names of the file's kernels that are launched, as `kernel[grid](…)`, below a node."""
        called = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
        names = (dotted_name(one.value) for one in called if isinstance(one, ast.Subscript))
        known = {kernel.name for kernel in self.kernels}
        return [name for name in names if name in known]

    def is_kernel(self, node: ast.AST) -> bool:
        return any(kernel.node is node for kernel in self.kernels)

    @cached_property
    def wrappers(self) -> tuple[ast.FunctionDef, ...]:
        """The functions with launches of the file's kernels in them."""
        return tuple(
            one
            for one in self.functions
            if isinstance(one, ast.FunctionDef) and not self.is_kernel(one) and self.launches_in(one)
        )

    def _place(self, line: int, column: int) -> int:
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        text = self.text[start:end]
        return start + (column if text.isascii() else len(text.encode()[:column].decode()))

    @cached_property
    def _outline(self) -> Module:
        return outline(str(self.path), self.text)


def code_body(function: Function) -> list[ast.stmt]:
    """The statements of a function but for its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def _outermost(tree: ast.AST) -> Iterator[Function]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield node
        elif isinstance(node, (ast.stmt, ast.excepthandler)):
            yield from _outermost(node)


def _bindings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
