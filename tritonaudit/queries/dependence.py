"""Which programs' numbers the values of a kernel depend on.

`may` holds every axis that could matter: also by the conditions that a value is chosen or reached under, and all axes
where an atomic operation or something unknown is asked. `surely` has those alone that arithmetic and loads carry there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonaudit.ir.model import Assign, Block, If, Kernel, Loop, Operation
from tritonaudit.ir.values import Const, Literal, Tuple, Unknown, Value
from tritonaudit.ir.writing import made_of


@dataclass(frozen=True)
class Part:
    """The quotient, or the remainder, of a program's number `of` by what is made by `by`, written as `text`."""

    of: Number
    by: object
    remainder: bool
    divisor: Value = field(compare=False)
    text: str = field(compare=False)


Number = int | Part  # the program's number along an axis, or a part of it
Axes = frozenset[Number]

NO_AXES: Axes = frozenset()
ALL_AXES: Axes = frozenset((0, 1, 2))
_SAME = frozenset(("to", "cast"))
_OF_TYPES = frozenset(("dtype", "shape", "type", "attribute"))


@dataclass(frozen=True, eq=False)
class Write:
    """A store that is reached under `conditions`."""

    operation: Operation
    conditions: tuple[Value, ...]


def operations_of(block: Block) -> Iterator[Operation]:
    """The operations of a block and of all inside it, in their order."""
    for one in block.statements:
        if isinstance(one, Operation):
            yield one
        elif isinstance(one, If):
            yield from operations_of(one.then)
            yield from operations_of(one.orelse)
        elif not isinstance(one, Assign):
            yield from operations_of(one.body)


def loops_of(block: Block) -> Iterator[Loop]:
    """The `for` loops of the kernel's own text, the outer ones first."""
    for one in block.statements:
        if isinstance(one, Loop):
            if isinstance(one.node, ast.For):
                yield one
            yield from loops_of(one.body)
        elif isinstance(one, If):
            yield from loops_of(one.then)
            yield from loops_of(one.orelse)


def line_of(operation: Operation) -> int:
    """Where it stands in the kernel; that of a helper where the kernel calls it."""
    return getattr(operation.calls[0] if operation.calls else operation.node, "lineno", 0)


class Dependence:
    """The operations of one kernel in their order, its stores, and what each operation depends on."""

    def __init__(self, kernel: Kernel) -> None:
        self.operations: list[Operation] = []
        self.writes: list[Write] = []
        self._behind: dict[Operation, tuple[Value, ...]] = {}  # what else a value may be, by the rounds of a loop
        self._bounds: dict[Operation, tuple[Value, ...]] = {}  # what decides how often it is set
        self._block(kernel.body, ())
        self._may = self._settled(ALL_AXES)
        self._surely = self._settled(NO_AXES)

    def may(self, *values: Value) -> Axes:
        """The axes that the values may depend on."""
        return NO_AXES.union(*(self._of(value, self._may, ALL_AXES) for value in values))

    def surely(self, value: Value) -> Axes:
        """The axes that the value depends on, as far as arithmetic and loads tell."""
        return self._of(value, self._surely, NO_AXES)

    def parameters(self, *values: Value) -> set[str]:
        """The parameters of the kernel that the values are made of."""
        reached = [made for value in values for made in made_by(value)]
        seen = set(reached)
        for operation in reached:  # which grows while it is read
            behind = [one for one, _ in operation.arguments.values()] + list(self._behind.get(operation, ()))
            new = {made for one in behind for made in made_by(one)} - seen
            seen |= new
            reached.extend(new)
        return {str(operation.detail) for operation in seen if operation.name == "parameter"}

    # -- what an operation depends on ----------------------------------------------------------------------------

    def _settled(self, of_unknown: Axes) -> dict[Operation, Axes]:
        """The axes of each operation, by those of its operands, until nothing is added any more."""
        table: dict[Operation, Axes] = {}
        changed = True
        while changed:
            changed = False
            for operation in self.operations:
                axes = self._operation(operation, table, of_unknown)
                if not axes <= table.get(operation, NO_AXES):
                    table[operation] = table.get(operation, NO_AXES) | axes
                    changed = True
        return table

    def _operation(self, operation: Operation, table: dict[Operation, Axes], of_unknown: Axes) -> Axes:
        number = _number(operation)
        if number is not None:
            return frozenset((number,))
        if operation.name in _OF_TYPES or _is_nought(operation):
            return NO_AXES
        is_foreign = operation.name == "call" and not str(operation.detail).startswith("triton.")
        if operation.name == "program_id" or operation.name.startswith("atomic_") or is_foreign:
            return of_unknown
        surely = of_unknown is NO_AXES
        values = [one for name, (one, _) in operation.arguments.items() if not (surely and name == "condition")]
        values += [*self._behind.get(operation, ()), *(() if surely else self._bounds.get(operation, ()))]
        return NO_AXES.union(*(self._of(value, table, of_unknown) for value in values))

    def _of(self, value: Value, table: dict[Operation, Axes], of_unknown: Axes) -> Axes:
        if isinstance(value, Unknown) and value.made is None:
            return of_unknown
        return NO_AXES.union(*(table.get(operation, NO_AXES) for operation in made_by(value)))

    # -- statements ----------------------------------------------------------------------------------------------

    def _block(self, block: Block, conditions: tuple[Value, ...]) -> None:
        for one in block.statements:
            if isinstance(one, Operation):
                if one.name == "store":
                    self.writes.append(Write(one, conditions))
                self.operations.append(one)
            elif isinstance(one, If):
                self._block(one.then, (*conditions, one.condition))
                self._block(one.orelse, (*conditions, one.condition))
                if one.then.is_ended or one.orelse.is_ended:
                    conditions = (*conditions, one.condition)
            elif isinstance(one, Loop):
                self._loop(one, conditions)
            elif not isinstance(one, Assign):
                self._block(one.body, conditions)

    def _loop(self, loop: Loop, conditions: tuple[Value, ...]) -> None:
        bounds = tuple(value for value, _ in loop.bounds.values())
        if loop.counter is not None:
            self._behind[loop.counter] = bounds
        for carried in loop.carried:
            self._behind[carried.head] = (carried.last,)
            self._bounds[carried.head] = bounds
        self._block(loop.body, (*conditions, *bounds))


def _is_nought(operation: Operation) -> bool:
    """Whether the text multiplies by 0, whatever else is multiplied; a launch that gives 0 is one among several."""
    factors = (node for _, node in operation.arguments.values()) if operation.name == "Multiply" else ()
    return any(isinstance(one, ast.Constant) and type(one.value) is int and one.value == 0 for one in factors)


def _number(operation: Operation) -> Number | None:
    """The program's number, or a part of it, that an operation gives and nothing else."""
    if operation.name == "program_id":
        axis = operation.value("axis")
        return axis.value if isinstance(axis, Const) and axis.value in ALL_AXES else None
    if operation.name in _SAME:
        return _number_of(operation.value("self")) if operation.name == "to" else _number_of(operation.value("input"))
    if operation.name in ("FloorDivide", "Modulo"):
        of, (divisor, node) = _number_of(operation.value("left")), operation.arguments["right"]
        if of is not None:
            text = ast.unparse(node) if isinstance(node, ast.expr) else "its divisor"
            return Part(of, _key(divisor), operation.name == "Modulo", divisor, text)
    return None


def _number_of(value: Value) -> Number | None:
    made = made_of(value)
    return _number(made) if isinstance(made, Operation) else None


def _key(value: Value) -> object:
    """What is the same for the same number."""
    made = made_of(value)
    if isinstance(made, Operation) and made.name == "cdiv":
        return made.name, *(_key(one) for one, _ in made.arguments.values())
    return made if isinstance(made, Operation) else getattr(value, "value", id(value))


def made_by(value: Value) -> Iterator[Operation]:
    """The operations that give a value, or the several that it is."""
    for one in value.items if isinstance(value, Tuple) else (value,):
        made = made_of(one)
        if isinstance(one, Tuple):
            yield from made_by(one)
        elif made is not None and not isinstance(made, Literal):
            yield made
