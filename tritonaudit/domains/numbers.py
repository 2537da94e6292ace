"""Which parameters of a kernel are numbers: those that it computes with as nobody does with a pointer."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.ir.model import Assign, Block, If, Kernel, Loop, Operation
from tritonaudit.ir.values import Tensor, Value
from tritonaudit.ir.writing import made_of

_OF_NUMBERS = frozenset((
    "Multiply", "Divide", "FloorDivide", "Modulo", "Power", "LeftShift", "RightShift", "BitAnd", "BitOr", "BitXor",
    "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual", "arange", "cdiv",
))  # fmt: skip


def numbers_of(kernel: Kernel) -> frozenset[str]:
    """The parameters that are factors, divisors or bounds, are compared by size, or are known to be numbers."""
    used = {id(made_of(value)) for value in _used(kernel.body)}
    return frozenset(str(one.detail) for one in kernel.parameters if id(one) in used or _is_number(one.type))


def _is_number(given: Value) -> bool:
    return isinstance(given, Tensor) and given.dtype is not None and not given.is_pointer


def _used(block: Block) -> Iterator[Value]:
    """What is computed with so."""
    for one in block.statements:
        if isinstance(one, Operation):
            if one.name in _OF_NUMBERS:
                yield from (value for value, _ in one.arguments.values())
        elif isinstance(one, If):
            yield from _used(one.then)
            yield from _used(one.orelse)
        elif not isinstance(one, Assign):
            if isinstance(one, Loop):
                yield from (value for value, _ in one.bounds.values())
            yield from _used(one.body)
