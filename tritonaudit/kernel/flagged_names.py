"""Variables that a kernel sets only where a flag is true, and uses where nobody asked for the flag."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.launch import LaunchFacts
from tritonaudit.kernel.optional import is_always_given, optional_pointers
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module, dotted_name


@dataclass(frozen=True, eq=False)
class FlaggedName:
    """`use` reads a variable that `setting` sets in an arm of an `if` on `flag`: with `value` it is not set."""

    use: ast.Name
    setting: ast.stmt
    flag: str
    value: bool


Condition = tuple[str, bool]


@dataclass(frozen=True, eq=False)
class _Place:
    """A statement: the flags that hold there, the names that other conditions around it ask for, and its number."""

    statement: ast.stmt
    held: frozenset[Condition]
    asked: frozenset[str]
    order: int


def flagged_names(module: Module, function: JitFunction, launches: LaunchFacts) -> Iterator[FlaggedName]:
    """The first use of such a variable for each flag."""
    flags = {parameter.name for parameter in function.parameters if parameter.constexpr}
    if not any(_condition(node.test, flags) for node in function.nodes.of(ast.If)):
        return
    reader = _Reader(flags)
    reader.read(function.node.body, frozenset(), frozenset())
    others = {parameter.name for parameter in function.parameters} | module.names.keys() | module.constants.keys()
    names = {name for name, places in reader.set.items() if places[0].held} - others
    reported: set[str] = set()
    for use, place in reader.uses(function, names):
        found = _unset(reader, use, place)
        if found is None or found.flag in reported or not _may_be(launches, found.flag, found.value):
            continue
        if not _is_asked_beside(function, use, found.flag) and not _is_never_false(module, function, launches, found):
            reported.add(found.flag)
            yield found


def _unset(reader: _Reader, use: ast.Name, place: _Place) -> FlaggedName | None:
    """Whether a flag that nobody asked for at the use decides if anything has set the name by then."""
    before = [setting for setting in reader.set[use.id] if setting.order < place.order]
    if not before:
        return None
    asked = place.asked | {flag for flag, _ in place.held} | reader.left
    for flag, value in sorted(frozenset.intersection(*(setting.held for setting in before))):
        if flag not in asked:
            return FlaggedName(use, before[0].statement, flag, not value)
    return None


def _is_asked_beside(function: JitFunction, use: ast.Name, flag: str) -> bool:
    """Whether the expression itself asks: `x if FLAG else 0`, `FLAG and x`."""
    around: list[ast.IfExp | ast.BoolOp] = [*function.nodes.of(ast.IfExp), *function.nodes.of(ast.BoolOp)]
    return any(flag in names_in(node) and any(inner is use for inner in ast.walk(node)) for node in around)


def _may_be(launches: LaunchFacts, flag: str, value: bool) -> bool:
    """Whether a launch may give the flag the value."""
    constant = launches.constant(flag)
    known = bool(launches.launches) or flag in launches.tuned
    return known and (constant is None or constant.value is value)


def _is_never_false(module: Module, function: JitFunction, launches: LaunchFacts, found: FlaggedName) -> bool:
    """Whether it is the flag of a pointer that would have to be None, and no launch can pass None for it."""
    pointers = {} if found.value else optional_pointers(module, function, launches)
    return any(found.flag in flags and is_always_given(launches, pointer) for pointer, flags in pointers.items())


def _condition(test: ast.expr, flags: set[str]) -> Condition | None:
    """`FLAG` or `not FLAG`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _condition(test.operand, flags)
        return None if inner is None else (inner[0], not inner[1])
    return (test.id, True) if isinstance(test, ast.Name) and test.id in flags else None


class _Reader:
    """Reads statements in their order, without their expressions."""

    def __init__(self, flags: set[str]) -> None:
        self._flags = flags
        self._places: list[_Place] = []
        self.set: dict[str, list[_Place]] = {}
        self.left: set[str] = set()
        """The flags that decide about leaving the kernel, or are asserted."""

    def read(self, body: list[ast.stmt], held: frozenset[Condition], asked: frozenset[str]) -> None:
        for statement in body:
            place = _Place(statement, held, asked, len(self._places))
            self._places.append(place)
            if isinstance(statement, ast.If):
                self._if(statement, held, asked)
                continue
            for target in _targets(statement):
                for name in names_in(target):
                    self.set.setdefault(name, []).append(place)
            if isinstance(statement, (ast.Return, ast.Assert)) or "static_assert" in _called(statement):
                self.left |= {flag for flag, _ in held} | asked | names_in(statement)
            for block in ("body", "orelse"):
                self.read(getattr(statement, block, []), held, asked)

    def _if(self, statement: ast.If, held: frozenset[Condition], asked: frozenset[str]) -> None:
        condition = _condition(statement.test, self._flags)
        if condition is None:
            asked |= names_in(statement.test)
            self.read(statement.body, held, asked)
            self.read(statement.orelse, held, asked)
            return
        flag, value = condition
        self.read(statement.body, held | {(flag, value)}, asked)
        self.read(statement.orelse, held | {(flag, not value)}, asked)

    def uses(self, function: JitFunction, names: set[str]) -> Iterator[tuple[ast.Name, _Place]]:
        """Where the names are read, in the order of the text, each with the statement that it stands in."""
        lines = [place.statement.lineno for place in self._places]
        found = [node for node in function.nodes.of(ast.Name) if node.id in names]
        for node in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
            index = bisect_right(lines, node.lineno) - 1
            statement = self._places[index].statement
            updates = isinstance(statement, ast.AugAssign) and statement.target is node
            if index >= 0 and (updates or isinstance(node.ctx, ast.Load)):
                yield node, self._places[index]


def _targets(statement: ast.stmt) -> list[ast.expr]:
    """What a statement sets."""
    if isinstance(statement, ast.Assign):
        return [target for target in statement.targets if not isinstance(target, (ast.Subscript, ast.Attribute))]
    is_set = isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)) and _is_bound(statement)
    return [statement.target] if is_set else []  # type: ignore[attr-defined]  # by the test


def _is_bound(statement: ast.AugAssign | ast.AnnAssign | ast.For) -> bool:
    return not isinstance(statement, ast.AnnAssign) or statement.value is not None


def _called(statement: ast.stmt) -> str:
    called = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    return "" if called is None else dotted_name(called) or ""
