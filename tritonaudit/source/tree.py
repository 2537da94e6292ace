"""LibCST trees of single functions, and the positions of their nodes, computed only when asked for."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState  # the public position provider visits and copies the whole tree

from tritonaudit.finding import Span
from tritonaudit.source.concrete import concrete
from tritonaudit.source.outline import JitFunction, Module, span_of

# LibCST's parser recurses in native code and overflows the stack of the process at some 3,000 nested parentheses.
MAX_DEPTH = 200
# Characters, but for those inside of strings and comments: what Python keeps flat, such as adjacent strings, LibCST
# nests as well.
MAX_STATEMENT = 20_000
_ALWAYS_SHALLOW = 8_000  # characters: a function this short cannot overflow it, and is not walked
_WRAPPER = "if 1:\n"
_SAME_PLACE = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
)  # fmt: skip
"""What starts and ends where LibCST has it, too, without writing out the function to count."""


class TooDeep(Exception):
    """The function is nested more deeply than the parser can bear."""


class FunctionTree:
    """A function of a file as a LibCST tree."""

    def __init__(self, module: Module, function: JitFunction) -> None:
        """Raises TooDeep, and `libcst.ParserSyntaxError` for the rare text that Python parses and LibCST does not."""
        source = module.text_of(function) + "\n"
        if len(source) > _ALWAYS_SHALLOW and (
            _depth(function.node) > MAX_DEPTH or _longest_statement(function.node, module.lines) > MAX_STATEMENT
        ):
            raise TooDeep
        # An indented function keeps its columns under a statement of our own, one line earlier.
        self._is_indented = source[:1] in (" ", "\t")
        self._module = cst.parse_module(_WRAPPER + source if self._is_indented else source)
        self.function = next(_functions(self._module))
        self._places: dict[int, _Place] | None = None
        self._rows: dict[int, int] | None = None
        self.outlined, self._file = function, module
        self._lines, self._lines_now = source.split("\n"), module.lines

    @cached_property
    def _concrete(self) -> dict[int, cst.CSTNode]:
        return concrete(self.outlined.node, self.function)

    @cached_property
    def _written(self) -> dict[int, ast.expr]:
        nodes = (node for kind in _SAME_PLACE for node in self.outlined.nodes.of(kind))
        return {id(self._concrete.get(id(node))): node for node in nodes}

    def node(self, node: ast.AST) -> cst.CSTNode | None:
        """The node of this tree that a statement or an expression of Python's own tree is."""
        return self._concrete.get(id(node))

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node of this tree stands in the file, where lines may have been put in before the function."""
        written = self._written.get(id(node))
        if written is not None:
            return span_of(written, self._file.lines)
        if self._places is None:
            self._places = _positions(self._module)
        line, column, end_line, end_column = self._places[id(node)]
        return Span(self._line(line), column, self._line(end_line), end_column)

    def _line(self, line: int) -> int:
        """Where a line of the tree stands in the file: blank lines may have come, or gone, before it and inside."""
        row = line - 1 - self._is_indented
        if self._lines_now is not self._file.lines:
            self._lines_now, self._rows = self._file.lines, self._moved_rows()
        return self.outlined.first_line + (row if self._rows is None else self._rows[row])

    def _moved_rows(self) -> dict[int, int] | None:
        """The rows of the function's lines by those that they had when it was parsed; None where they are the same."""
        now = self._file.text_of(self.outlined).split("\n")
        if now == self._lines[:-1]:
            return None
        written = [[row for row, line in enumerate(lines) if line.strip()] for lines in (self._lines, now)]
        return dict(zip(*written, strict=True))

    def code(self, node: cst.CSTNode) -> str:
        return self._module.code_for_node(node)


def _functions(node: cst.CSTNode) -> Iterator[cst.FunctionDef]:
    if isinstance(node, cst.FunctionDef):
        yield node
    elif isinstance(node, (cst.Module, cst.IndentedBlock, cst.If)):
        body = node.body if isinstance(node, (cst.Module, cst.IndentedBlock)) else [node.body]
        for child in body:
            yield from _functions(child)


def _depth(root: ast.AST) -> int:
    deepest = 0
    stack: list[tuple[ast.AST, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, ast.BoolOp):
            depth += len(node.values)  # flat here, nested in LibCST
        deepest = max(deepest, depth)
        stack.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return deepest


def _longest_statement(function: ast.FunctionDef, lines: list[str]) -> int:
    """The size of the longest statement, of a compound one that of its head and each part by itself."""
    spans: set[tuple[int, int]] = set()  # many statements may stand in one line
    stack: list[ast.stmt] = [function]
    while stack:
        node = stack.pop()
        inside = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        last = min((child.lineno for child in inside), default=(node.end_lineno or node.lineno) + 1)
        spans.add((node.lineno - 1, max(last - 1, node.lineno)))
        stack.extend(inside)
    return max(_size(lines[first:last]) for first, last in spans)


def _size(lines: list[str]) -> int:
    """The characters of a statement; a string counts as a few, however long it is, and a comment as none."""
    length = sum(map(len, lines))
    if length <= MAX_STATEMENT:
        return length
    tokens = tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline)
    try:
        return sum(
            _STRING if token.type in _STRINGS else len(token.string)
            for token in tokens
            if token.type != tokenize.COMMENT
        )
    except (tokenize.TokenError, IndentationError):  # the head of a compound statement ends in the middle
        return length


_STRING = 8  # characters, for 2,500 of them side by side are as many as the parser can bear
_STRINGS = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))


_Place = tuple[int, int, int, int]
"""The line of the tree and the column where a node starts, and those past its end."""


class _Recorder(CodegenState):
    """Writes the module out and notes where each node starts and ends, without its surrounding whitespace."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.line = 1
        self.column = 1
        self.places: dict[int, _Place] = {}
        self._starts: list[tuple[int, int]] = []

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        newlines = value.count("\n")
        if newlines:
            self.line += newlines
            self.column = len(value) - value.rindex("\n")
        else:
            self.column += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append((self.line, self.column))

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.places.setdefault(id(node), (*self._starts.pop(), self.line, self.column))

    def record_syntactic_position(self, node: cst.CSTNode, **_: Any) -> Any:
        return _Recording(self, node)


class _Recording:
    """A context: while it lasts, a node without its surrounding whitespace is written out."""

    __slots__ = ("_node", "_recorder", "_start")

    def __init__(self, recorder: _Recorder, node: cst.CSTNode) -> None:
        self._recorder = recorder
        self._node = node

    def __enter__(self) -> None:
        self._start = (self._recorder.line, self._recorder.column)

    def __exit__(self, *_: object) -> None:
        recorder = self._recorder
        recorder.places[id(self._node)] = (*self._start, recorder.line, recorder.column)


def _positions(module: cst.Module) -> dict[int, _Place]:
    recorder = _Recorder(module)
    module._codegen(recorder)
    return recorder.places
