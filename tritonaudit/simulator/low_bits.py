"""Which integers are read by their low bits only, so that nothing is lost where they overflow, as in a hash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from tritonaudit.simulator.ir import Constant, Function, Module, Operation
from tritonaudit.simulator.slices import SPREADING, blocks_in

_ALL = math.inf
_LOW_OF_LOW = frozenset(
    (
        "arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.shli",
        "arith.extsi", "arith.extui", "arith.trunci",
        "tt.trans", *SPREADING,
    )
)  # fmt: skip
"""Of which the low bits of a result hang on as many low bits of each operand, and on nothing else."""
_TO_THE_RIGHT = "arith.shrsi"
_MODULAR = frozenset(("arith.shrui", "arith.remui"))
"""Of which a number without a sign is read: that it has 32 or 64 bits, and no more, is meant."""
_MEANT_BITS = 32


@lru_cache(maxsize=64)
def overflow_freely(module: Module) -> frozenset[tuple[str, int]]:
    """The integers, by function and number, of which all that is read is in as many low bits as they have.

    Whatever is made of one is the same as if it had more bits, and had not overflowed; or it is read without a sign by
    a shift or for a remainder, as hashes are that wrap around by intent.
    """
    return frozenset((one.name, number) for one in module.functions for number in _of_function(one))


def _of_function(function: Function) -> frozenset[int]:
    operations = list(blocks_in(function.region.blocks))
    constants = {one.results[0]: one.attributes.get("value") for one in operations if one.name == "arith.constant"}
    makers = {result: one for one in operations for result in one.results}
    read: dict[int, float] = {}
    for operation in reversed(operations):  # what reads a value follows it, but in loops, which read all
        for number, operand in enumerate(operation.operands):
            bits = _read(operation, number, read, makers, constants)
            if operation.name in _MODULAR and number == 0 and _width(function, operand) >= _MEANT_BITS:
                bits = min(bits, _width(function, operand))
            read[operand] = max(read.get(operand, 0), bits)
        read.update((passed, _ALL) for _, values in operation.successors for passed in values)
    return frozenset(number for number, bits in read.items() if bits <= _width(function, number))


def _width(function: Function, number: int) -> int:
    element = function.types[number].element
    return int(element[1:]) if element[:1] == "i" and element[1:].isdecimal() else 0


def _read(
    operation: Operation,
    number: int,
    read: Mapping[int, float],
    makers: Mapping[int, Operation],
    constants: Mapping[int, object],
) -> float:
    """How many low bits of the operand of that number an operation reads, for what is read of its result."""
    bits = read.get(operation.results[0], 0) if len(operation.results) == 1 else _ALL
    if operation.name == _TO_THE_RIGHT and number == 0:
        shift = _least_and_most(operation.operands[1], makers, constants)
        return _ALL if shift is None or shift[0] < 0 else bits + shift[1]
    if operation.name == "arith.shli" and number == 1:
        return _ALL
    if operation.name == "arith.andi":
        other = _least_and_most(operation.operands[1 - number], makers, constants)
        return bits if other is None or other[0] < 0 else min(bits, other[1].bit_length())
    if operation.name == "arith.select" and number > 0:
        return bits
    return bits if operation.name in _LOW_OF_LOW else _ALL


def _least_and_most(
    number: int, makers: Mapping[int, Operation], constants: Mapping[int, object]
) -> tuple[int, int] | None:
    """Of the elements of a constant, however it is spread; None of what is none."""
    maker = makers.get(number)
    while maker is not None and maker.name in ("tt.splat", "tt.broadcast", "tt.expand_dims"):
        number = maker.operands[0]
        maker = makers.get(number)
    value = constants.get(number)
    if not isinstance(value, Constant) or not all(isinstance(one, int) for one in value.elements):
        return None
    elements = [int(one) for one in value.elements]
    return min(elements), max(elements)
