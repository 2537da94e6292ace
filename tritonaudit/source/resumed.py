"""An edit of a file: what of its earlier reading is still so, above all where it is inside the body of one kernel."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tritonaudit.finding import Span
from tritonaudit.source.outline import JitFunction, Module, outlined


@dataclass(frozen=True)
class Edited:
    """Two texts of one file that differ in the lines from `first` to `last` of the older, in the body of one kernel.

    `number` is the place of that kernel among the file's, which are otherwise the same; lines after `last` have moved
    `by` so many.
    """

    before: Module
    after: Module
    number: int
    first: int
    last: int
    by: int

    def moved(self, span: Span) -> Span | None:
        """Where a stretch of the older text stands; None where it was edited."""
        if span.end_line < self.first:
            return span
        if span.line <= self.last:
            return None
        return replace(span, line=span.line + self.by, end_line=span.end_line + self.by)

    @cached_property
    def related(self) -> frozenset[int]:
        """The kernels that call it or are called by it, in either text and through others, itself among them."""
        kernels = list(zip(self.before.jit, self.after.jit, strict=True))
        names = [_names(old) if old is new else _names(old) | _names(new) for old, new in kernels]
        found, pending = {self.number}, [self.number]
        for one in pending:  # which grows while it is read
            for other, (_, kernel) in enumerate(kernels):
                if other not in found and (kernel.name in names[one] or kernels[one][1].name in names[other]):
                    found.add(other)
                    pending.append(other)
        return frozenset(found)


def _names(kernel: JitFunction) -> set[str]:
    """What it may call: names, and those of attributes."""
    return {node.id for node in kernel.nodes.of(ast.Name)} | {node.attr for node in kernel.nodes.of(ast.Attribute)}


def edited(before: Module, after: Module) -> Edited | None:
    """What the edit between two texts is; None where it is more than one inside the body of one kernel.

    Where no line has moved, what is read as `after` shares with `before` the nodes of all other statements.
    """
    first, last, by = _difference(before.lines, after.lines)
    if len(before.jit) != len(after.jit) or before.names != after.names or before.gluon != after.gluon:
        return None
    number = next((n for n, jit in enumerate(before.jit) if _body(jit) <= first and last <= jit.last_line), None)
    if number is None or len(before.embedded) != len(after.embedded):
        return None
    pairs = zip(before.jit, after.jit, strict=True)
    if not all(_is_moved(old, new, first, by, n == number) for n, (old, new) in enumerate(pairs)):
        return None
    if _body(after.jit[number]) > first:
        return None
    return Edited(before, after if by else _sharing(before, after, number) or after, number, first, last, by)


def _difference(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """The first and the last line of the older text that are not in the newer one, and how many more that has.

    Lines that were only put in stand after the line before `first`, which then is past `last`.
    """
    most = min(len(old), len(new))
    same = next((line for line in range(most) if old[line] != new[line]), most)
    rest = next((line for line in range(most - same) if old[-1 - line] != new[-1 - line]), most - same)
    return same + 1, len(old) - rest, len(new) - len(old)


def _body(jit: JitFunction) -> int:
    """The first line that is only the body's."""
    node, first = jit.node, jit.node.body[0]
    begin = first.lineno
    if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        begin = min([begin, *(decorator.lineno for decorator in first.decorator_list)])
    head = [*ast.walk(node.args), *([] if node.returns is None else [node.returns])]
    lines = [inner.end_lineno or 0 for inner in head if isinstance(inner, (ast.expr, ast.arg))]
    return begin if begin > max([node.lineno, *lines]) else begin + 1


def _is_moved(old: JitFunction, new: JitFunction, first: int, by: int, is_edited: bool) -> bool:
    """Whether it is the same kernel, where the edit has put it."""
    if old.qualname != new.qualname:
        return False
    begin = 0 if is_edited or old.first_line < first else by
    end = by if is_edited else begin
    return (old.first_line + begin, old.last_line + end) == (new.first_line, new.last_line)


def shared(before: Module, after: Module) -> Module:
    """The newer text with the older one's nodes for the statements of the module that stand where they stood."""
    old, new = before.tree.body, after.tree.body
    if len(before.lines) != len(after.lines) or len(old) != len(new):
        return after
    tree = copy.copy(after.tree)
    pairs = zip(old, new, strict=True)
    tree.body = [one if _is_same(one, other, before.lines, after.lines) else other for one, other in pairs]
    return outlined(after.path, after.text, tree)


def _is_same(old: ast.stmt, new: ast.stmt, before: Sequence[str], after: Sequence[str]) -> bool:
    places = [(type(one), one.lineno, one.col_offset, one.end_lineno, one.end_col_offset) for one in (old, new)]
    first = min([old.lineno, *(decorator.lineno for decorator in getattr(old, "decorator_list", ()))])
    last = old.end_lineno or old.lineno
    return places[0] == places[1] and before[first - 1 : last] == after[first - 1 : last]


def _sharing(before: Module, after: Module, number: int) -> Module | None:
    """The newer text with the older one's nodes, but for the kernel's body; None where it is no kernel of its own."""
    old, new = before.jit[number], after.jit[number]
    place = next((n for n, node in enumerate(before.tree.body) if node is old.node), None)
    if place is None or len(before.tree.body) != len(after.tree.body) or after.tree.body[place] is not new.node:
        return None
    node = copy.copy(old.node)
    node.body, node.end_lineno, node.end_col_offset = new.node.body, new.node.end_lineno, new.node.end_col_offset
    kernel = JitFunction(
        old.name, old.qualname, new.first_line, new.last_line, old.parameters, node, old.decorators, old.scope
    )
    tree = copy.copy(after.tree)
    tree.body = [*before.tree.body[:place], node, *before.tree.body[place + 1 :]]
    jit = (*before.jit[:number], kernel, *before.jit[number + 1 :])
    return Module(
        after.path, after.text, tree, before.names, jit, before.constants, after.embedded, before.gluon, after.lines
    )
