"""Which axes of the grid the values of a kernel depend on, by the names in its text.

`may` holds every axis that could matter: also by the conditions that a name is set under, and all axes where a helper
or an atomic operation is asked. `surely` holds those alone that arithmetic and loads carry there.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tritonaudit.source.outline import JitFunction, Module, dotted_name


@dataclass(frozen=True)
class Part:
    """The quotient, or the remainder, of a program's number `of` by what the kernel writes as `by`."""

    of: Number
    by: str
    remainder: bool


Number = int | Part  # the program's number along an axis, or a part of it
Axes = frozenset[Number]

NO_AXES: Axes = frozenset()
ALL_AXES: Axes = frozenset((0, 1, 2))
_DEPTH = 8
_BUILT_IN = frozenset(dir(builtins))
_OF_TYPES = frozenset({"dtype", "element_ty", "shape", "type"})
"""Attributes that are the same whatever program asks for them."""


@dataclass(frozen=True)
class _Reads:
    """What an expression is made of: names, programs' numbers, and what is computed elsewhere."""

    names: frozenset[str] = frozenset()
    numbers: Axes = NO_AXES
    foreign: bool = False

    def axes(self, table: dict[str, Axes], of_foreign: Axes) -> Axes:
        found = self.numbers.union(*(table[name] for name in self.names if name in table))
        return found | of_foreign if self.foreign else found


@dataclass(frozen=True, eq=False)
class Write:
    """A `tl.store` of `value` at `address`; `conditions` decide whether it is reached."""

    call: ast.Call
    address: ast.expr
    value: ast.expr
    mask: ast.expr | None
    conditions: tuple[ast.expr, ...]


@dataclass(eq=False)
class Dependence:
    """The axes by name, and the stores of the kernel in the order of the text."""

    module: Module
    function: JitFunction
    writes: list[Write] = field(default_factory=list)
    _reads: dict[int, _Reads] = field(default_factory=dict)
    _may: dict[str, Axes] = field(default_factory=dict)
    _values: dict[str, tuple[ast.expr | None, ...]] = field(default_factory=dict)
    _settings: list[tuple[tuple[str, ...], ast.expr, tuple[ast.expr, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._block(self.function.node.body, ())
        parts = [(names, [self._read(node) for node in (value, *tests)]) for names, value, tests in self._settings]
        _settle(self._may, parts, ALL_AXES)

    @cached_property
    def _surely(self) -> dict[str, Axes]:
        table: dict[str, Axes] = {}
        _settle(table, [(names, [self._read(value)]) for names, value, _ in self._settings], NO_AXES)
        return table

    def may(self, *nodes: ast.expr) -> Axes:
        """The axes that the expressions may depend on."""
        return NO_AXES.union(*(self._read(node).axes(self._may, ALL_AXES) for node in nodes))

    def surely(self, node: ast.expr) -> Axes:
        """The axes that the expression depends on, as far as arithmetic and loads tell."""
        return self._read(node).axes(self._surely, NO_AXES)

    def _read(self, node: ast.expr) -> _Reads:
        """What an expression reads, looked up once: a kernel's expressions are asked for again and again."""
        found = self._reads.get(id(node))
        if found is None:
            found = self._reads[id(node)] = self._look(node)
        return found

    def _look(self, node: ast.expr) -> _Reads:
        number = self._number(node)
        if number is not None:
            return _Reads(numbers=frozenset((number,)))
        if isinstance(node, ast.Name):
            return _Reads(names=frozenset((node.id,)))
        if isinstance(node, ast.Attribute) and node.attr in _OF_TYPES:
            return _Reads()
        if isinstance(node, ast.Call):
            if self._is_foreign(node) or _is_atomic(node):
                return _Reads(foreign=True)
            if own := self._program_id(node):
                return _Reads(numbers=own)
        parts = [self._look(child) for child in _children(node) if isinstance(child, ast.expr)]
        return _Reads(
            frozenset().union(*(part.names for part in parts)),
            frozenset().union(*(part.numbers for part in parts)),
            any(part.foreign for part in parts),
        )

    def _number(self, node: ast.expr, depth: int = 0) -> Number | None:
        """The program's number, or a part of it, that an expression is and nothing else."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            values = self._values.get(node.id, ())
            return self._number(values[0], depth + 1) if len(values) == 1 and values[0] is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            of = self._number(node.left, depth + 1)
            return None if of is None else Part(of, ast.unparse(node.right), isinstance(node.op, ast.Mod))
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            return self._number(node.func.value, depth + 1)
        own = self._program_id(node)
        return next(iter(own)) if len(own) == 1 else None

    def made(self, address: ast.expr) -> ast.expr:
        """Where an address is made: what its name is set to first, else where it stands."""
        while isinstance(address, ast.Name):
            made = next((value for names, value, _ in self._settings if names == (address.id,)), None)
            if made is None or made is address:
                break
            address = made
        return address

    def is_named(self, call: ast.Call, operation: str) -> bool:
        """Whether a call is of this function of `triton.language`."""
        dotted = dotted_name(call.func)
        return dotted is not None and self.module.origin(dotted) == f"triton.language.{operation}"

    def _program_id(self, call: ast.Call) -> Axes:
        if (dotted_name(call.func) or "").rpartition(".")[2] != "program_id":
            return NO_AXES
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        axis = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else None
        return frozenset((axis,)) if isinstance(axis, int) and axis in ALL_AXES else ALL_AXES

    def _is_foreign(self, call: ast.Call) -> bool:
        """Whether a call is of neither Triton's nor Python's own function, nor of a method."""
        dotted = dotted_name(call.func)
        head = "" if dotted is None else dotted.partition(".")[0]
        if dotted is None or (head != dotted and head not in self.module.names) or self._program_id(call):
            return False
        return dotted not in _BUILT_IN and not self.module.origin(dotted).startswith("triton")

    # -- statements ------------------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt], conditions: tuple[ast.expr, ...]) -> None:
        for node in body:
            self._statement(node, conditions)
            if isinstance(node, ast.If) and _returns(node.body + node.orelse):
                conditions = (*conditions, node.test)

    def _statement(self, node: ast.stmt, conditions: tuple[ast.expr, ...]) -> None:
        if isinstance(node, ast.If):
            for arm in (node.body, node.orelse):
                self._block(arm, (*conditions, node.test))
        elif isinstance(node, ast.While):
            self._block(node.body, (*conditions, node.test))
        elif isinstance(node, ast.For):
            self._set(node.target, node.iter, conditions)
            self._block(node.body, (*conditions, node.iter))
        elif isinstance(node, ast.With):
            self._block(node.body, conditions)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._set(target, node.value, conditions)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._set(node.target, node.value, conditions)
        elif isinstance(node, ast.AugAssign):
            self._set(ast.Tuple([node.target], ast.Store()), node.value, conditions)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and self.is_named(node.value, "store"):
            self._store(node.value, conditions)

    def _set(self, target: ast.expr, value: ast.expr, conditions: tuple[ast.expr, ...]) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, part in zip(target.elts, value.elts, strict=True):
                self._set(one, part, conditions)
            return
        names = tuple(inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name))
        self._settings.append((names, value, conditions))
        for name in names:
            self._values[name] = (*self._values.get(name, ()), value if isinstance(target, ast.Name) else None)

    def _store(self, call: ast.Call, conditions: tuple[ast.expr, ...]) -> None:
        given = dict(zip(("pointer", "value", "mask"), call.args, strict=False))
        given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
        if "pointer" in given and "value" in given:
            self.writes.append(Write(call, given["pointer"], given["value"], given.get("mask"), conditions))


def _settle(table: dict[str, Axes], settings: list[tuple[tuple[str, ...], list[_Reads]]], of_foreign: Axes) -> None:
    """Fill the table with the axes of each name, by what it is set to, until nothing is added any more."""
    changed = True
    while changed:
        changed = False
        for names, parts in settings:
            axes = NO_AXES.union(*(part.axes(table, of_foreign) for part in parts))
            for name in names:
                before = table.get(name, NO_AXES)
                if not axes <= before:
                    table[name] = before | axes
                    changed = True


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node; of a call its keywords' values as well."""
    for child in ast.iter_child_nodes(node):
        yield child.value if isinstance(child, ast.keyword) else child


def _is_atomic(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr.startswith("atomic_")


def _returns(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for statement in body for node in ast.walk(statement))
