"""A kernel as Triton would see it: its operations in the order of evaluation, helpers inlined.

An operation keeps the node of the text that it stands for, and the calls of helpers that led there. Its operands are
the values of `values`, which know the operation that made them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tritonaudit.ir.values import UNKNOWN, Value

if TYPE_CHECKING:
    from tritonaudit.kernel.project import Function

Operand = tuple[Value, ast.AST]
"""A value, and the expression that it is there."""
Calls = tuple[ast.Call, ...]
"""The calls of helpers on the way to an operation, the outermost first."""


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """One operation: `arguments` are its operands by name, `detail` is what is no value (a name, an index, axes).

    `type` is what the front end gives it, `function` the kernel or helper that it stands in.
    """

    name: str
    node: ast.AST
    arguments: dict[str, Operand]
    calls: Calls
    function: Function
    type: Value = UNKNOWN
    detail: Any = None

    def value(self, name: str) -> Value:
        """An operand; UNKNOWN where it is not given."""
        found = self.arguments.get(name)
        return UNKNOWN if found is None else found[0]


@dataclass(frozen=True, eq=False, slots=True)
class Assign:
    """A variable that gets a value."""

    name: str
    value: Value
    node: ast.AST
    calls: Calls


@dataclass(eq=False, slots=True)
class Block:
    """Statements one after the other; `is_ended`: a `return` ends them all, so that nothing after them is reached."""

    statements: list[Statement] = field(default_factory=list)
    is_ended: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class If:
    """Both arms of a condition that is not decided when compiling, or that a launch decides (`is_constant`)."""

    node: ast.If | ast.IfExp
    condition: Value
    then: Block
    orelse: Block
    is_constant: bool
    calls: Calls


@dataclass(frozen=True, eq=False, slots=True)
class Carried:
    """A variable that a loop changes: `head` is what it is when a round begins, `last` what the round leaves."""

    name: str
    initial: Value
    head: Operation
    last: Value


@dataclass(frozen=True, eq=False, slots=True)
class Loop:
    """A loop: `bounds` are the arguments of its range, `counter` is none of a `while`, whose `test` is in its body."""

    node: ast.For | ast.While
    kind: str
    bounds: dict[str, Operand]
    counter: Operation | None
    carried: tuple[Carried, ...]
    body: Block
    calls: Calls


@dataclass(frozen=True, eq=False, slots=True)
class Inlined:
    """The body of a helper, where it is called; a `return` in it ends it alone."""

    function: Function
    body: Block


Statement = Operation | Assign | If | Loop | Inlined


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel, or a helper by itself, with its parameters and its statements."""

    function: Function
    parameters: tuple[Operation, ...]
    body: Block
