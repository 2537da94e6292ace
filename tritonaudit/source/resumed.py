"""An edit of a file: what of its earlier reading is still so, above all where it is inside the body of one function.

The nodes of what is the same are kept and moved to where they stand now, so that whatever was found by them still
holds: a line put in above moves places, and nothing is read or evaluated again for it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tritonaudit.finding import Span
from tritonaudit.source.nodes import Nodes
from tritonaudit.source.outline import JitFunction, Module, first_line

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Block = ast.Module | ast.ClassDef | _Function


@dataclass(frozen=True)
class _Changed:
    """A statement that is not what it was, as it stands in both texts; the statements around it, the outermost first.

    Where the edit is between statements there is none.
    """

    around: tuple[tuple[_Block, _Block], ...]
    function: tuple[_Function, _Function] | None = None


@dataclass(frozen=True, eq=False)
class Edited:
    """Two texts of one file that differ in the lines from `first` to `last` of the older, which is read as `module`.

    Lines after `last` have moved `by` so many. `kernel` is the place among the file's kernels of the one whose body
    was edited; `function` is the function of the host code that may do something else now. With neither, the edit
    changes nothing that the file does.
    """

    module: Module
    newer: Module
    first: int
    last: int
    by: int
    changed: _Changed = field(repr=False)
    kernel: int | None = None
    function: _Function | None = None

    @property
    def is_silent(self) -> bool:
        return self.kernel is None and self.function is None

    def moved(self, span: Span) -> Span | None:
        """Where a stretch of the older text stands; None where it was edited."""
        if span.end_line < self.first:
            return span
        if span.line <= self.last:
            return None
        return replace(span, line=span.line + self.by, end_line=span.end_line + self.by)

    @cached_property
    def related(self) -> frozenset[int]:
        """The edited kernel and those that call it or are called by it, in either text and through others."""
        if self.kernel is None:
            return frozenset()
        kernels = list(self.module.jit)
        names = [_names(kernel) for kernel in kernels]
        names[self.kernel] |= _names(self.newer.jit[self.kernel])
        found, pending = {self.kernel}, [self.kernel]
        for one in pending:  # which grows while it is read
            for other, kernel in enumerate(kernels):
                if other not in found and (kernel.name in names[one] or kernels[one].name in names[other]):
                    found.add(other)
                    pending.append(other)
        return frozenset(found)

    def follow(self) -> dict[ast.AST, ast.FunctionDef]:
        """Make the older reading that of the newer text, and say which functions are other nodes now.

        Nothing else of what is known here may be asked for afterwards, but for what `moved` and `related` say.
        """
        replaced: dict[ast.AST, ast.FunctionDef] = {}
        gone: list[ast.AST] = [old for old, _ in self.changed.around]
        jit = list(self.module.jit)
        for old, new in self.changed.around:
            self._move_after(old.body)
            if not isinstance(old, ast.Module) and not isinstance(new, ast.Module):
                old.end_lineno, old.end_col_offset = new.end_lineno, new.end_col_offset
        if self.changed.function is not None:
            before, after = self.changed.function
            gone += [before, *Nodes(before).of(ast.FunctionDef), *Nodes(before).of(ast.AsyncFunctionDef)]
            if self.is_silent:
                is_kernel = any(kernel.node is before for kernel in jit)
                _take_places(before, after, *((frozenset(),) * 2 if is_kernel else map(_dead, (before, after))))
            else:
                made = after if self.kernel is None else _with_body(before, after)
                _put(made, before, self.changed.around[-1][0].body)
                replaced[before] = made  # type: ignore[assignment]  # an asynchronous one is nobody's entry
                if self.kernel is not None and isinstance(made, ast.FunctionDef):
                    jit[self.kernel] = replace(jit[self.kernel], node=made)
        self.module.follow(self.newer, tuple(jit), gone)
        return replaced

    def _move_after(self, body: list[ast.stmt]) -> None:
        for statement in body if self.by else ():
            if first_line(statement) > self.last:
                _move(statement, self.by)


def _names(kernel: JitFunction) -> set[str]:
    """What it may call: names, and those of attributes."""
    return {node.id for node in kernel.nodes.of(ast.Name)} | {node.attr for node in kernel.nodes.of(ast.Attribute)}


def edited(before: Module, after: Module) -> Edited | None:
    """What the edit between two texts is; None where it is more than one inside the body of one function."""
    first, last, by = _difference(before.lines, after.lines)
    names = [jit.qualname for jit in before.jit], [jit.qualname for jit in after.jit]
    if names[0] != names[1] or before.names != after.names or len(before.embedded) != len(after.embedded):
        return None
    if [name for name, _ in before.gluon] != [name for name, _ in after.gluon]:
        return None
    changed = _changed(before, after, _Lines(first, last, by))
    if changed is None or not _is_blank_outside(before, after, changed, (first, last, by)):
        return None
    edit = Edited(before, after, first, last, by, changed)
    if changed.function is None:
        return edit if len(changed.around) == 1 or isinstance(changed.around[-1][0], ast.ClassDef) else None
    old, new = changed.function
    kernel = next((number for number, jit in enumerate(before.jit) if jit.node is old), None)
    if kernel is not None and after.jit[kernel].node is not new:
        return None
    if kernel is not None:
        return edit if _is_spaced_otherwise(before, after, edit) else replace(edit, kernel=kernel)
    if any(isinstance(one, _FUNCTIONS) for one, _ in changed.around):
        return None
    is_silent = first > (old.body[0].end_lineno or 0) and _does_the_same(before, old, new)
    return edit if is_silent else replace(edit, function=new)


def _difference(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """The first and the last line of the older text that are not in the newer one, and how many more that has.

    Lines that were only put in stand after the line before `first`, which then is past `last`.
    """
    most = min(len(old), len(new))
    same = next((line for line in range(most) if old[line] != new[line]), most)
    rest = next((line for line in range(most - same) if old[-1 - line] != new[-1 - line]), most - same)
    return same + 1, len(old) - rest, len(new) - len(old)


# -- where two trees differ --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Lines:
    first: int
    last: int
    by: int

    def are_the_same(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Whether a statement is one whose lines have only moved."""
        begin, end = first_line(old), old.end_lineno or old.lineno
        if end >= self.first and begin <= self.last:
            return False
        by = self.by if begin > self.last else 0
        here, there = _place(old), _place(new)
        return here[0] == there[0] and all(
            (one[0] + by, one[1]) == other for one, other in zip(here[1:], there[1:], strict=True)
        )


def _place(node: ast.stmt) -> tuple[type[ast.stmt], tuple[int, int], tuple[int, int], tuple[int, int]]:
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return type(node), (first_line(node), 0), (node.lineno, node.col_offset), end


def _changed(before: Module, after: Module, lines: _Lines) -> _Changed | None:
    """Where the texts differ; None where that is not inside of one function, nor between statements.

    Of a function around kernels it is one of those that the edit must be in.
    """
    old: _Block = before.tree
    new: _Block = after.tree
    kernels = [jit.node for module in (before, after) for jit in module.jit]

    def is_outer(function: _Function) -> bool:
        return function not in kernels and any(_spans(function, kernel) for kernel in kernels)

    around = [(old, new)]
    while True:
        pair = _pair(old.body, new.body, lines)
        if pair is None or not pair:
            return None if pair is None else _Changed(tuple(around))
        one, other = pair
        if type(one) is not type(other) or not isinstance(one, (ast.ClassDef, *_FUNCTIONS)):
            return None
        assert isinstance(other, (ast.ClassDef, *_FUNCTIONS))
        if one.name != other.name or not _body(one) <= lines.first >= _body(other):
            return None
        if isinstance(one, _FUNCTIONS) and isinstance(other, _FUNCTIONS) and not (is_outer(one) and is_outer(other)):
            return _Changed(tuple(around), (one, other))
        old, new = one, other
        around.append((old, new))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _pair(old: list[ast.stmt], new: list[ast.stmt], lines: _Lines) -> tuple[ast.stmt, ast.stmt] | tuple[()] | None:
    """The one statement that is not the same, in both; nothing where all are, None where more differ."""
    if len(old) != len(new):
        return None
    differ = [pair for pair in zip(old, new, strict=True) if not lines.are_the_same(*pair)]
    return None if len(differ) > 1 else differ[0] if differ else ()


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    """The first line that is only the body's."""
    first = node.body[0]
    begin = first_line(first)
    head: list[ast.AST] = []
    if isinstance(node, ast.ClassDef):
        head += [*node.bases, *(keyword.value for keyword in node.keywords)]
    else:
        head += [*ast.walk(node.args), *([] if node.returns is None else [node.returns])]
    lines = [inner.end_lineno or 0 for inner in head if isinstance(inner, (ast.expr, ast.arg))]
    return begin if begin > max([node.lineno, *lines]) else begin + 1


def _spans(function: _Function, inner: ast.FunctionDef) -> bool:
    return function.lineno <= inner.lineno <= (function.end_lineno or 0)


def _is_blank_outside(before: Module, after: Module, changed: _Changed, lines: tuple[int, int, int]) -> bool:
    """Whether beside the function only blanks differ, and what stands below has a comment above it as it had."""
    first, last, by = lines
    ends = (first - 1,) * 2 if changed.function is None else tuple(node.end_lineno or 0 for node in changed.function)
    parts = before.lines[:last], after.lines[: last + by]
    if any(line.strip() for part, end in zip(parts, ends, strict=True) for line in part[max(end, first - 1) :]):
        return False
    if all(end >= len(part) for part, end in zip(parts, ends, strict=True)):
        return True  # the edit is inside of it
    comments = [any(line.lstrip().startswith("#") for line in part[-1:]) for part in parts]
    return comments[0] == comments[1]


def _is_spaced_otherwise(before: Module, after: Module, edit: Edited) -> bool:
    """Whether the texts of a kernel differ in blank lines and blanks at the ends of lines only."""
    assert edit.changed.function is not None
    old, new = before.lines[edit.first - 1 : edit.last], after.lines[edit.first - 1 : edit.last + edit.by]
    written = [[line for text in lines if (line := text.rstrip())] for lines in (old, new)]
    return written[0] == written[1] and _alike(*edit.changed.function, frozenset(), frozenset())


# -- functions that do the same ----------------------------------------------------------------------------------------


def _dead(function: _Function) -> frozenset[int]:
    return Nodes(function).dead


def _does_the_same(module: Module, old: _Function, new: _Function) -> bool:
    """Whether two texts of a function differ in blanks, comments and dead statements that name nothing of the file."""
    dead = [Nodes(old).dead, Nodes(new).dead]
    names = {name for function, those in zip((old, new), dead, strict=True) for name in _named_by(function, those)}
    defined = {getattr(node, "name", "") for node in module.tree.body}
    if names & {*module.names, *module.constants, *defined} or (names and _is_starred(module)):
        return False
    return _alike(old, new, *dead)


def _named_by(function: _Function, dead: frozenset[int]) -> Iterator[str]:
    """The names that the dead statements of a function speak of."""
    for node in (*Nodes(function).of(ast.Expr), *Nodes(function).of(ast.Assign)):
        if id(node) in dead:
            yield from (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _is_starred(module: Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in module.tree.body)


def _alike(old: object, new: object, dead: frozenset[int], dead_now: frozenset[int]) -> bool:
    """Whether two trees are the same but for their places and dead statements."""
    if isinstance(old, list) and isinstance(new, list):
        left, right = [one for one in old if id(one) not in dead], [one for one in new if id(one) not in dead_now]
        return len(left) == len(right) and all(
            _alike(one, other, dead, dead_now) for one, other in zip(left, right, strict=True)
        )
    if isinstance(old, ast.AST):
        return type(old) is type(new) and all(
            _alike(getattr(old, name, None), getattr(new, name, None), dead, dead_now) for name in old._fields
        )
    return type(old) is type(new) and (old == new or (old != old and new != new))


# -- the older tree, brought to the newer text -------------------------------------------------------------------------


def _move(root: ast.AST, by: int) -> None:
    """Let a tree stand so many lines further down."""
    for node in ast.walk(root):
        if hasattr(node, "lineno"):
            node.lineno += by
            node.end_lineno += by  # type: ignore[attr-defined]


def _take_places(old: ast.AST, new: ast.AST, dead: frozenset[int], dead_now: frozenset[int]) -> None:
    """Let a tree stand where one like it stands, and have its dead statements."""
    for name in old._attributes:
        if hasattr(new, name):
            setattr(old, name, getattr(new, name))
    for name in old._fields:
        mine, its = getattr(old, name, None), getattr(new, name, None)
        if isinstance(mine, ast.AST) and isinstance(its, ast.AST):
            _take_places(mine, its, dead, dead_now)
        elif isinstance(mine, list) and isinstance(its, list):
            live = iter([one for one in mine if id(one) not in dead])
            merged = [one if id(one) in dead_now else next(live) for one in its]
            for one, other in zip(merged, its, strict=True):
                if one is not other and isinstance(one, ast.AST) and isinstance(other, ast.AST):
                    _take_places(one, other, dead, dead_now)
            mine[:] = merged


def _with_body(old: _Function, new: _Function) -> _Function:
    """The function with the body that it has now; what stands before that is its own."""
    made = copy.copy(old)
    made.body, made.end_lineno, made.end_col_offset = new.body, new.end_lineno, new.end_col_offset
    return made


def _put(made: ast.stmt, before: ast.stmt, body: list[ast.stmt]) -> None:
    body[next(place for place, node in enumerate(body) if node is before)] = made
