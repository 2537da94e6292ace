"""Writes down the operations of a kernel while it is read, and what control makes of its variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tritonaudit.ir.model import Assign, Block, Calls, If, Inlined, Operand, Operation, Statement
from tritonaudit.ir.values import (
    BlockPointer,
    Const,
    Descriptor,
    Made,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tritonaudit.kernel.project import Function

_MOST = 60_000
"""Operations of a kernel that are written down; what comes after them is not known."""


class Writer:
    """The block that is being written, in the function and by the calls that lead there."""

    def __init__(self, function: Function) -> None:
        self.block = Block()
        self.function = function
        self.calls: Calls = ()
        self._is_silent = False
        self._count = 0

    def result(
        self, name: str, node: ast.AST, arguments: Mapping[str, Operand], value: Value, detail: Any = None
    ) -> Value:
        """The value as that of an operation, which is written down unless it is a constant that the text gives."""
        if isinstance(value, Const) and value.known and all(made_of(one) is None for one, _ in arguments.values()):
            return value
        return made_by(value, self.operation(name, node, arguments, value, detail), self)

    def operation(
        self, name: str, node: ast.AST, arguments: Mapping[str, Operand], value: Value, detail: Any = None
    ) -> Operation:
        """An operation, written down."""
        operation = Operation(name, node, dict(arguments), self.calls, self.function, value, detail)
        self.add(operation)
        return operation

    def assign(self, name: str, value: Value, node: ast.AST) -> None:
        """A variable of the kernel or helper that is being read gets a value."""
        self.add(Assign(name, value, node, self.calls))

    def add(self, statement: Statement) -> None:
        """The next statement of the block."""
        self._count += 1
        if not self._is_silent and self._count <= _MOST:
            self.block.statements.append(statement)

    @contextmanager
    def inside(self) -> Iterator[Block]:
        """A block within the statement that comes next."""
        outer, self.block = self.block, Block()
        try:
            yield self.block
        finally:
            self.block = outer

    @contextmanager
    def inlined(self, function: Function, call: ast.AST) -> Iterator[None]:
        """The body of a helper."""
        outer = self.function, self.calls
        with self.inside() as body:
            self.function = function
            self.calls = (*self.calls, call) if isinstance(call, ast.Call) else self.calls
            try:
                yield
            finally:
                self.function, self.calls = outer
        self.add(Inlined(function, body))

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Nothing is written down meanwhile."""
        outer, self._is_silent = self._is_silent, True
        try:
            yield
        finally:
            self._is_silent = outer

    # -- where control meets -------------------------------------------------------------------------------------

    def branch(self, node: ast.If | ast.IfExp, condition: Value, then: Block, orelse: Block, is_constant: bool) -> If:
        """A condition with its arms, where both end the block ends."""
        branch = If(node, condition, then, orelse, is_constant, self.calls)
        self.add(branch)
        self.block.is_ended = self.block.is_ended or (then.is_ended and orelse.is_ended)
        return branch

    def met(self, value: Value, branch: If, then: Value | None, orelse: Value | None) -> Value:
        """What a variable is after a branch, of that type; an arm that has ended leaves nothing."""
        if then is None or branch.then.is_ended:
            then, orelse = orelse, None
        elif orelse is None or branch.orelse.is_ended:
            orelse = None
        if then is None:
            return value
        return self.either(value, branch.node, branch.condition, then, then if orelse is None else orelse)

    def either(self, value: Value, node: ast.AST, condition: Value, then: Value, orelse: Value) -> Value:
        """A value of that type that is one of the two."""
        if isinstance(value, Tuple):
            return _each(value, then, orelse, lambda one, a, b: self.either(one, node, condition, a, b))
        if not isinstance(value, CARRIED) or then is orelse:
            return value if then is not orelse else _typed(value, then)
        if made_of(then) is made_of(orelse) and made_of(then) is not None:
            return made_by(value, made_of(then))
        if isinstance(then, Const) and then == orelse and value == then:
            return value
        arguments = {"condition": (condition, node), "then": (then, node), "orelse": (orelse, node)}
        return made_by(value, self.operation("either", node, arguments, value))


CARRIED = (Tensor, Const, Unknown, BlockPointer, Descriptor)


def made_by(value: Value, made: Made | None, writer: Writer | None = None) -> Value:
    """The value as that which an operation gives; of several values, each as an item of it."""
    if isinstance(value, Tensor):
        return Tensor(value.dtype, value.shape, value.free, made)
    if isinstance(value, CARRIED):
        return replace(value, made=made)
    if isinstance(value, Tuple) and writer is not None and isinstance(made, Operation):
        items = []
        for index, item in enumerate(value.items):
            items.append(writer.result("item", made.node, {"value": (Unknown(made), made.node)}, item, index))
        return Tuple(tuple(items), value.literal)
    return value


def made_of(value: Value) -> Made | None:
    """The operation that gives the value; None for what none does, such as a number of the text."""
    return value.made if isinstance(value, CARRIED) else None


def _typed(value: Value, other: Value) -> Value:
    return made_by(value, made_of(other)) if isinstance(value, CARRIED) else value


def _each(value: Tuple, then: Value, orelse: Value, meet: Any) -> Value:
    if not isinstance(then, Tuple) or not isinstance(orelse, Tuple):
        return value
    if not len(value.items) == len(then.items) == len(orelse.items):
        return value
    return Tuple(tuple(map(meet, value.items, then.items, orelse.items)), value.literal)
