"""Variables that a kernel sets only where a flag is true, and uses where nobody asked for the flag."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.launch import LaunchFacts
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
    """A name where it is set or read: the flags that hold there, and whether another condition was asked."""

    node: ast.Name
    statement: ast.stmt
    held: frozenset[Condition]
    asked: frozenset[str]
    order: int


def flagged_names(module: Module, function: JitFunction, launches: LaunchFacts) -> Iterator[FlaggedName]:
    """The first use of such a variable for each flag."""
    flags = {parameter.name for parameter in function.parameters if parameter.constexpr}
    tests = [node.test for node in function.nodes.of(ast.If)]
    if not any(_condition(test, flags) for test in tests):
        return
    reader = _Reader(flags)
    reader.read(function.node.body, frozenset(), frozenset())
    others = {parameter.name for parameter in function.parameters} | module.names.keys() | module.constants.keys()
    uses = [use for name in (reader.set.keys() & reader.used.keys()) - others for use in reader.used[name]]
    told: set[str] = set()
    for use in sorted(uses, key=lambda place: place.order):
        found = _unset(reader, use)
        if found is not None and found.flag not in told and _may_be(launches, found.flag, found.value):
            told.add(found.flag)
            yield found


def _unset(reader: _Reader, use: _Place) -> FlaggedName | None:
    """Whether a flag that nobody asked for at the use decides if anything has set the name by then."""
    before = [place for place in reader.set[use.node.id] if place.order < use.order]
    if not before:
        return None
    asked = use.asked | {flag for flag, _ in use.held} | reader.left
    for flag, value in sorted(frozenset.intersection(*(place.held for place in before))):
        if flag not in asked:
            return FlaggedName(use.node, before[0].statement, flag, not value)
    return None


def _may_be(launches: LaunchFacts, flag: str, value: bool) -> bool:
    """Whether a launch may give the flag the value."""
    constant = launches.constant(flag)
    known = bool(launches.launches) or flag in launches.tuned
    return known and (constant is None or constant.value is value)


def _condition(test: ast.expr, flags: set[str]) -> Condition | None:
    """`FLAG` or `not FLAG`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _condition(test.operand, flags)
        return None if inner is None else (inner[0], not inner[1])
    return (test.id, True) if isinstance(test, ast.Name) and test.id in flags else None


class _Reader:
    """Reads statements in their order."""

    def __init__(self, flags: set[str]) -> None:
        self._flags = flags
        self._order = 0
        self.set: dict[str, list[_Place]] = {}
        self.used: dict[str, list[_Place]] = {}
        self.left: set[str] = set()
        """The flags that decide about leaving the kernel."""

    def read(self, body: list[ast.stmt], held: frozenset[Condition], asked: frozenset[str]) -> None:
        for statement in body:
            self._statement(statement, held, asked)

    def _statement(self, statement: ast.stmt, held: frozenset[Condition], asked: frozenset[str]) -> None:
        if isinstance(statement, ast.If):
            self._if(statement, held, asked)
            return
        if isinstance(statement, (ast.Return, ast.Assert)) or "static_assert" in _called(statement):
            self.left |= {flag for flag, _ in held} | asked | names_in(statement)
        parts = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.expr)]
        for part in sorted(parts, key=_is_set):  # what is read comes before what it is set to
            self._expression(part, statement, held, asked)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            self._note(self.used, statement.target, statement, held, asked)
            self._note(self.set, statement.target, statement, held, asked)
        for block in ("body", "orelse"):
            self.read(getattr(statement, block, []), held, asked)

    def _if(self, statement: ast.If, held: frozenset[Condition], asked: frozenset[str]) -> None:
        self._expression(statement.test, statement, held, asked)
        condition = _condition(statement.test, self._flags)
        if condition is None:
            inner = asked | names_in(statement.test)
            self.read(statement.body, held, inner)
            self.read(statement.orelse, held, inner)
            return
        flag, value = condition
        self.read(statement.body, held | {(flag, value)}, asked)
        self.read(statement.orelse, held | {(flag, not value)}, asked)

    def _expression(
        self, node: ast.expr, statement: ast.stmt, held: frozenset[Condition], asked: frozenset[str]
    ) -> None:
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            asked = asked | names_in(node.test if isinstance(node, ast.IfExp) else node)
        if isinstance(node, ast.Name) and not (isinstance(statement, ast.AugAssign) and _is_set(node)):
            self._note(self.set if _is_set(node) else self.used, node, statement, held, asked)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self._expression(part, statement, held, asked)
            elif isinstance(part, ast.keyword):
                self._expression(part.value, statement, held, asked)

    def _note(
        self,
        places: dict[str, list[_Place]],
        node: ast.Name,
        statement: ast.stmt,
        held: frozenset[Condition],
        asked: frozenset[str],
    ) -> None:
        self._order += 1
        places.setdefault(node.id, []).append(_Place(node, statement, held, asked, self._order))


def _is_set(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _called(statement: ast.stmt) -> str:
    called = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    return "" if called is None else dotted_name(called) or ""
