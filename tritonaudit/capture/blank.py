"""A file with everything blanked out but some statements, which stay on their lines and columns."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tritonaudit.capture.names import blocks_of

_Position = tuple[int, int]  # line from 1, column in bytes, as `ast` counts them


@dataclass
class Selection:
    """What is kept of a file, by the ids of its nodes.

    `statements` are kept as they are, or replaced by a line of ours where one is given. `opened` are statements whose
    block of that number is run whatever they say, for what is defined inside; its names are set first to what
    `given` says. `dropped` are decorators, `patches` statements inside of kept ones with what stands in their place.
    """

    statements: dict[int, str | None] = field(default_factory=dict)
    opened: dict[int, int] = field(default_factory=dict)
    given: dict[int, dict[str, str]] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    patches: list[tuple[ast.stmt, str]] = field(default_factory=list)


def blanked(text: str, tree: ast.Module, selection: Selection) -> str:
    """The text of what is selected, every character where it was. Raises SyntaxError where that is no Python."""
    canvas = _Canvas(text)
    _Writer(canvas, selection).body(tree.body)
    for node, line in selection.patches:
        canvas.erase(_start(node), _end(node))
        canvas.write(_start(node), line)
    result = canvas.text()
    ast.parse(result)
    return result


class _Canvas:
    """The lines of a text, of which only what is copied shows."""

    def __init__(self, text: str) -> None:
        self._source = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]
        self._lines = [b""] * len(self._source)

    def copy(self, start: _Position, end: _Position) -> None:
        for number in range(start[0], end[0] + 1):
            line = self._source[number - 1]
            first = start[1] if number == start[0] else 0
            last = end[1] if number == end[0] else len(line)
            if line[first:last].strip():
                self._put(number, first, line[first:last])

    def write(self, place: _Position, words: str) -> None:
        self._put(place[0], place[1], words.encode())

    def erase(self, start: _Position, end: _Position) -> None:
        for number in range(start[0], end[0] + 1):
            line = self._lines[number - 1]
            first = start[1] if number == start[0] else 0
            last = end[1] if number == end[0] else len(line)
            self._lines[number - 1] = line[:first] + b" " * (last - first) + line[last:]

    def _put(self, number: int, column: int, words: bytes) -> None:
        line = self._lines[number - 1]
        if len(line) < column:
            before = self._source[number - 1][len(line) : column]
            # Indentation keeps its tabs.
            line += before if before.isspace() and len(before) == column - len(line) else b" " * (column - len(line))
        self._lines[number - 1] = line[:column] + words + line[column + len(words) :]

    def text(self) -> str:
        return "\n".join(line.decode("utf-8", "surrogatepass") for line in self._lines)


class _Writer:
    def __init__(self, canvas: _Canvas, selection: Selection) -> None:
        self._canvas = canvas
        self._selection = selection
        self._holds: dict[int, bool] = {}

    def body(self, body: list[ast.stmt]) -> bool:
        """Write what is selected of a body; whether that is anything."""
        written = [self._statement(node) for node in body]
        for index in range(len(body) - 1, 0, -1):
            before, node = body[index - 1], body[index]
            if written[index] and before.end_lineno == node.lineno:
                # What is kept after a semicolon needs something before it.
                if not written[index - 1]:
                    self._canvas.write(_start(before), "0")
                    written[index - 1] = True
                self._canvas.copy(_end(before), _start(node))
        return any(written)

    def _statement(self, node: ast.stmt) -> bool:
        if id(node) in self._selection.statements:
            replacement = self._selection.statements[id(node)]
            if replacement is None:
                self._copy(node)
            else:
                self._canvas.write(_start(node), replacement)
            return True
        if id(node) in self._selection.opened:
            return self._opened(node)
        if isinstance(node, (ast.If, ast.Try)) and self._holds_something(node):
            self._blocks(node)
            return True
        return False

    def _copy(self, node: ast.stmt) -> None:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        for decorator in decorators:
            if id(decorator) not in self._selection.dropped:
                self._canvas.copy((decorator.lineno, node.col_offset), _end(decorator))
        self._canvas.copy((node.lineno, node.col_offset), _end(node))

    def _opened(self, node: ast.stmt) -> bool:
        block = blocks_of(node)[self._selection.opened[id(node)]]
        if isinstance(block[0], ast.If) and block[0].col_offset == node.col_offset:
            return self.body(block)  # an `elif`
        given = self._selection.given.get(id(node), {})
        condition = ", ".join(f"{name} := {value}" for name, value in given.items())
        first = _start(block[0])
        self._canvas.write((first[0] - 1, node.col_offset), f"if [{condition}]:" if given else "if 1:")
        if not self.body(block):
            self._canvas.write(first, "pass")
        return True

    def _blocks(self, node: ast.If | ast.Try) -> None:
        before = _start(node)
        for block in blocks_of(node):
            first = _start(block[0])
            self._canvas.copy(before, first)
            if not self.body(block):
                self._canvas.write(first, "pass")
            before = _end(block[-1])

    def _holds_something(self, node: ast.stmt) -> bool:
        if id(node) not in self._holds:
            self._holds[id(node)] = any(
                id(inner) in self._selection.statements
                or id(inner) in self._selection.opened
                or (isinstance(inner, (ast.If, ast.Try)) and self._holds_something(inner))
                for block in blocks_of(node)
                for inner in block
            )
        return self._holds[id(node)]


def _start(node: ast.stmt) -> _Position:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]), node.col_offset


def _end(node: ast.stmt | ast.expr) -> _Position:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset
