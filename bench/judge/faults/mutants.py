"""Mutants of a function of a file: each with one fault, as the function's text and as that of the whole file."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from bench.judge.faults.operators import OF_FILL, OPERATORS, Operator
from bench.mutation.sites import Function, Site, code, is_launch, walk


@dataclass(frozen=True)
class Target:
    """A function of a file, by its name and the line of its `def`: a kernel, or what launches `kernel`."""

    path: str
    name: str
    line: int
    kernel: str
    is_kernel: bool


@dataclass(frozen=True)
class Mutant:
    """A target with a fault at a line of its file; `function` is its text without decorators, `text` the file's.

    `lines` are the first and the last of the statement in which it is, of a loop or branch those of its head.
    """

    target: Target
    operator: str
    line: int
    lines: tuple[int, int]
    before: str
    after: str
    function: str
    text: str

    @property
    def is_of_fill(self) -> bool:
        """Whether it only changes what a load gives for lanes that its mask leaves out."""
        return self.operator in OF_FILL


_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)


class SourceFile:
    """A file with kernels, and its functions."""

    def __init__(self, text: str) -> None:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.text = text
        self.module = wrapper.module
        self._around: dict[cst.FunctionDef, Around] = {}
        self._ranges = wrapper.resolve(PositionProvider)
        self._starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
        functions = (node for node in self._ranges if isinstance(node, cst.FunctionDef))
        self.functions = sorted(functions, key=lambda one: self.line_of(one.name))

    def line_of(self, node: cst.CSTNode) -> int:
        found = self._ranges.get(node)
        return found.start.line if isinstance(found, CodeRange) else 0

    def lines_of(self, site: Site) -> tuple[int, int]:
        """The first and the last line of the statement in which it is, of a loop or branch those of its head."""
        held = next((node for node in (site.node, *site.above) if isinstance(node, _STATEMENTS)), site.node)
        found = self._ranges.get(held)
        if not isinstance(found, CodeRange):
            return 0, 0
        body = self._ranges.get(held.body) if isinstance(held, cst.BaseCompoundStatement) else None
        if not isinstance(body, CodeRange):
            return found.start.line, found.end.line
        return found.start.line, max(found.start.line, body.start.line - 1)

    def function(self, target: Target) -> cst.FunctionDef | None:
        """That of the name which is nearest to the line, from above or at it."""
        named = [one for one in self.functions if one.name.value == target.name]
        return min(named, key=lambda one: abs(self.line_of(one.name) - target.line), default=None)

    def launching(self, kernel: str) -> Iterator[cst.FunctionDef]:
        """The functions with a launch of a kernel of that name in them, and in no function within."""
        for one in self.functions:
            launches = [node for node, above in walk(one.body) if _launches(node, kernel) and not _is_within(above)]
            if launches:
                yield one

    def edited(self, function: cst.FunctionDef, before: cst.CSTNode, after: cst.CSTNode) -> tuple[str, str]:
        """The function without its decorators, and the file, with one node of it in another's place."""
        span = self._span(before)
        if span is not None and self.text[slice(*span)] == code(before):
            start, end = span
            whole = self.text[:start] + code(after) + self.text[end:]
            first, last = self.extent(function)
            return textwrap.dedent(whole[first : last + len(whole) - len(self.text)]), whole
        changed = function.deep_replace(before, after)
        assert isinstance(changed, cst.FunctionDef)
        alone = code(changed.with_changes(decorators=[], leading_lines=[], lines_after_decorators=[]))
        return textwrap.dedent(alone), self._with_function(function, changed)

    def _span(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Where the node starts and ends in the text."""
        found = self._ranges.get(node)
        if not isinstance(found, CodeRange):
            return None
        return (
            self._starts[found.start.line - 1] + found.start.column,
            self._starts[found.end.line - 1] + found.end.column,
        )

    def extent(self, function: cst.FunctionDef) -> tuple[int, int]:
        """Where the line of its `def` starts, and where it ends."""
        found = self._ranges[function.body]
        assert isinstance(found, CodeRange)
        return self._starts[self.line_of(function.name) - 1], self._starts[min(found.end.line, len(self._starts) - 1)]

    def _with_function(self, node: cst.FunctionDef, changed: cst.FunctionDef) -> str:
        """The file's text with another function in the place of that one."""
        around = self._around.get(node)
        if around is None:
            around = self._around[node] = self._found_around(node)
        if around.text(node) == self.text:
            return around.text(changed)
        whole = self.module.deep_replace(node, changed)
        assert isinstance(whole, cst.Module)
        return whole.code

    def _found_around(self, node: cst.FunctionDef) -> Around:
        """The file without a function; where its text is indented within, as far as that is known."""
        marked = self.module.deep_replace(node, node.with_changes(body=_MARK, decorators=[], lines_after_decorators=[]))
        assert isinstance(marked, cst.Module)
        written = code(
            node.with_changes(body=_MARK, decorators=[], lines_after_decorators=[], leading_lines=[])
        ).strip()
        head, _, tail = marked.code.partition(written)
        indent = head.rpartition("\n")[2]
        return Around(head.removesuffix(indent), indent, tail.removeprefix("\n"))


_MARK = cst.SimpleStatementSuite([cst.Expr(cst.Name("the_body_of_this_function"))])


@dataclass(frozen=True)
class Around:
    """What is before and behind a function that stands so far to the right."""

    head: str
    indent: str
    tail: str

    def text(self, node: cst.FunctionDef) -> str:
        """The file with another function in its place."""
        own = code(node.with_changes(leading_lines=[]))
        lines = (f"{self.indent}{line}" if line.strip() else line for line in own.splitlines(keepends=True))
        return self.head + "".join(lines) + self.tail


@lru_cache(maxsize=8)
def source_file(text: str) -> SourceFile:
    """The file of a text, read once. Raises ParserSyntaxError."""
    return SourceFile(text)


def targets_of(text: str, path: str, name: str, line: int) -> Iterator[Target]:
    """The kernel, and the functions of the same file that launch it."""
    yield Target(path, name, line, name, True)
    source = source_file(text)
    for one in source.launching(name):
        yield Target(path, one.name.value, source.line_of(one.name), name, False)


def mutants(text: str, target: Target, seed: int, most: int) -> Iterator[Mutant]:
    """At most so many of each operator, drawn by the seed."""
    source = source_file(text)
    node = source.function(target)
    if node is None:
        return
    function = Function(node, target.is_kernel)
    for operator in OPERATORS:
        if operator.is_of_kernels == target.is_kernel:
            chance = random.Random(f"{seed} {operator.name} {target.name} {target.line}")
            edits = list(_edits(function, operator))
            for site, after in chance.sample(edits, min(most, len(edits))):
                made = _made(source, node, site, after, target, operator.name)
                if made is not None:
                    yield made


def _edits(function: Function, operator: Operator) -> Sequence[tuple[Site, cst.CSTNode]]:
    return [(site, after) for site in function.sites for after in operator.edit(site)]


def _made(
    source: SourceFile,
    node: cst.FunctionDef,
    site: Site,
    after: cst.CSTNode,
    target: Target,
    operator: str,
) -> Mutant | None:
    """None where that is no Python, or the text that it was."""
    before = site.node
    alone, whole = source.edited(node, before, after)
    try:
        compile(alone, target.path, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    if whole == source.text:
        return None
    line, lines = source.line_of(before), source.lines_of(site)
    return Mutant(target, operator, line, lines, code(before), code(after), alone, whole)


def _launches(node: cst.CSTNode, kernel: str) -> bool:
    if not is_launch(node):
        return False
    assert isinstance(node, cst.Call)
    assert isinstance(node.func, cst.Subscript)
    return code(node.func.value).rpartition(".")[2] == kernel


def _is_within(above: Sequence[cst.CSTNode]) -> bool:
    return any(isinstance(node, (cst.FunctionDef, cst.ClassDef)) for node in above)
