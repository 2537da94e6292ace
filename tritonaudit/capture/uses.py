"""What a kernel does with its parameters: which are pointers, to what, and what the others are used for."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tritonaudit.capture import meanings
from tritonaudit.capture.evidence import STRONG, Evidence, Use, Uses
from tritonaudit.capture.trail import INDEX, NOTHING, Nature, Trail, combined, joined, nature_of_type
from tritonaudit.ir.model import Assign, Block, If, Inlined, Kernel, Loop, Operation
from tritonaudit.ir.reader import Reader
from tritonaudit.ir.values import ANY, Const, Literal, Tensor, Tuple, Value
from tritonaudit.ir.writing import made_of
from tritonaudit.kernel.project import Function, Project
from tritonaudit.target import Target

_PASSES = 3  # which of two is the address, and what a loop carries, may show only later in the body


def uses_of(project: Project, function: Function, pointers: Iterable[str] = ()) -> Uses:
    """What the kernel does with its parameters, of which some are known to be pointers."""
    given: dict[str, Value] = {
        parameter.name: Const(ANY) if parameter.constexpr else Tensor(None, (), free=True)
        for parameter in function.jit.parameters
    }
    follower = Follower(function)
    try:
        kernel = Reader(project, Target.parse()).read(function, given, launched=True)
    except (RecursionError, ValueError):  # nested too deeply, or a number too long to be written
        return follower.uses
    numbers: list[str] = []
    for _ in range(_PASSES):
        follower.begin()
        follower.note(pointers, Evidence.POINTER)
        follower.note(numbers, Evidence.NUMBER)
        follower.run(kernel)
        numbers = [name for name, use in follower.uses.parameters.items() if Evidence.NUMBER in use]
    return follower.uses


class Follower:
    """Follows parameters through the operations of a kernel."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._constants = {parameter.name for parameter in function.jit.parameters if parameter.constexpr}
        self._trails: dict[Operation, Trail] = {}
        self.begin()

    def begin(self) -> None:
        """Forget the evidence, but not what comes from where."""
        self.uses = Uses({parameter.name: Use() for parameter in self._function.jit.parameters})

    def run(self, kernel: Kernel) -> None:
        for operation in kernel.parameters:
            name = operation.detail
            sums = () if name in self._constants else ((name,),)
            self._trails[operation] = Trail(sums=sums, scalars=frozenset((name,)), direct=name)
        self._block(kernel.body)

    # -- evidence ----------------------------------------------------------------------------------------------------

    def note(self, names: Iterable[str], kind: Evidence, weight: int = STRONG) -> None:
        for name in names:
            self.uses.parameters[name].evidence[kind] += weight

    def is_number(self, trail: Trail, kind: Evidence, weight: int = STRONG) -> None:
        """The value is a number of this kind, and so are the elements or the parameter that it is."""
        self.note(trail.whole, kind, weight)
        self.note((name for name in (trail.direct, trail.typed) if name is not None), kind, weight)
        if trail.direct is not None and kind is not Evidence.BOOLEAN:
            self.note((trail.direct,), Evidence.NUMBER)

    def is_index(self, value: Value, weight: int = STRONG) -> None:
        """The value counts or places something: all that went into it are integers."""
        trail = self.trail(value)
        self.note(trail.loads, Evidence.INTEGER, weight)
        self.note(trail.scalars, Evidence.INTEGER, weight)
        self.note(trail.scalars, Evidence.NUMBER)

    def is_tile(self, value: Value) -> None:
        """The value is the size of a tile, or all of them, and a parameter that it is such a size itself."""
        for part in value.items if isinstance(value, Tuple) else (value,):
            trail = self.trail(part)
            self.note(trail.scalars, Evidence.TILE, 1)
            if trail.direct is not None:
                self.note((trail.direct,), Evidence.TILE)

    def is_condition(self, value: Value) -> None:
        trail = self.trail(value)
        self.note(trail.whole, Evidence.INTEGER, 1)
        if trail.direct is not None:
            self.note((trail.direct,), Evidence.FLAG)

    def address(self, value: Value) -> frozenset[str]:
        """Note an access; the parameters that it may be to."""
        trail = self.trail(value)
        self.note(trail.loads, Evidence.INTEGER)
        found = frozenset(self._pointer_of(names) for names in trail.sums)
        self.note(found, Evidence.POINTER)
        self.note((trail.scalars | frozenset(trail.bases)) - found, Evidence.INTEGER)
        return found

    def _pointer_of(self, summed: tuple[str, ...]) -> str:
        """Of the parameters that are summed in an address the pointer: known as one, or not known as a number."""
        for name in summed:
            if Evidence.POINTER in self.uses.parameters[name]:
                return name
        return min(summed, key=lambda name: (self._is_number(name), summed.index(name)))

    def _is_number(self, name: str) -> int:
        use = self.uses.parameters[name]
        return use[Evidence.NUMBER] + use[Evidence.TILE]

    # -- values ------------------------------------------------------------------------------------------------------

    def trail(self, value: Value) -> Trail:
        """What a value comes from."""
        if isinstance(value, Tuple):
            return combined(self.trail(item) for item in value.items)
        made = made_of(value)
        found = NOTHING if made is None or isinstance(made, Literal) else self._trails.get(made, NOTHING)
        nature = nature_of_type(value)
        return found if nature is None else found.but(nature=nature)

    # -- statements --------------------------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for statement in block.statements:
            if isinstance(statement, Operation):
                self._operation(statement)
            elif isinstance(statement, Assign):
                if not statement.calls:
                    self.uses.names.setdefault(statement.name, set()).update(self.trail(statement.value).sources)
            elif isinstance(statement, If):
                self.is_condition(statement.condition)
                self._reaches(statement.node.test, self.trail(statement.condition), self._function)
                self._block(statement.then)
                self._block(statement.orelse)
            elif isinstance(statement, Loop):
                self._loop(statement)
            elif isinstance(statement, Inlined):
                self._block(statement.body)

    def _loop(self, loop: Loop) -> None:
        for value, node in loop.bounds.values():
            self.is_index(value)
            self._reaches(node, self.trail(value), self._function)
            if loop.kind == "static_range":
                self.note(self.trail(value).scalars, Evidence.COUNT)
        if loop.counter is not None:
            self._trails[loop.counter] = INDEX
        for _ in range(2):
            self._block(loop.body)
            for one in loop.carried:
                self._trails[one.head] = joined((self.trail(one.initial), self.trail(one.last)))

    def _operation(self, operation: Operation) -> None:
        if operation.name == "counter":
            return
        known = self._trails.get(operation, NOTHING) if operation.name == "carried" else NOTHING
        found = meanings.trail_of(self, operation)
        if operation.name == "carried":
            found = joined((found, known)) if known is not NOTHING else found
        elif found.nature is not Nature.FLOAT and isinstance(operation.type, Tensor):
            found = found.but(nature=nature_of_type(operation.type) or found.nature)
        self._trails[operation] = found
        for value, node in operation.arguments.values():
            trail = self.trail(value)
            self._reaches(node, trail, operation.function)
            self._reaches(operation.node, trail, operation.function)

    def _reaches(self, node: ast.AST, trail: Trail, function: Function) -> None:
        line = getattr(node, "lineno", None)
        if line is not None and trail.sources:
            self.uses.reach.setdefault((function.module.path, line), set()).update(trail.sources)
