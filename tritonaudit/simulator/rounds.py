"""Long loops where accesses alone matter: some of their rounds, with what grows evenly from round to round reckoned."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.control import number_of, rounds_of
from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.slices import blocks_in
from tritonaudit.simulator.values import Doubt, Value, joined, merged, unknown

_MANY = 32
"""Rounds that are executed one by one."""
_LOOKED_AT = 8
_SUMS = ("arith.addi", "tt.addptr")
_ACCESSES = ("tt.load", "tt.atomic", "tt.descriptor")


def some_rounds(handler: Handler) -> Handler:
    """The handler of loops, but of those that have many rounds the first two, the last two and some between them.

    What a round gets from the one before is reckoned where every round adds the same to it; else it is not known.
    """

    def handle(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
        doubt = joined(value.undefined for value in frame.operands(operation)[:3])
        if doubt is not None:
            return handler(machine, operation, frame)
        start, stop, step = (number_of(machine, frame, operation, operand) for operand in operation.operands[:3])
        counts = torch.as_tensor(rounds_of(start, stop, step, len(frame.programs))).expand(len(frame.programs))
        if int(counts.amax()) <= _MANY:
            return handler(machine, operation, frame)
        parts: list[list[tuple[torch.Tensor, Value]]] = [[] for _ in operation.results]
        for count in counts.unique().tolist():
            places = (counts == count).nonzero().flatten()
            inner = frame.subset(places) if len(places) < len(counts) else frame
            if count <= _MANY:
                found = handler(machine, operation, inner)
            else:
                found = _sampled(machine, operation, inner, (start.take(places), step.take(places)), count)
            for part, value in zip(parts, found, strict=True):
                part.append((places, value))
        types = [frame.type(result) for result in operation.results]
        return tuple(merged(part, type, len(counts)) for part, type in zip(parts, types, strict=True))

    return handle


def _sampled(
    machine: Machine, operation: Operation, frame: Frame, counter: tuple[Affine, Affine], count: int
) -> tuple[Value, ...]:
    """Some of that many rounds, which start at the counter's start and have its step; what the last would give."""
    block = operation.regions[0].block
    first = tuple(frame.operands(operation)[3:])
    types = [frame.type(number) for number in block.arguments[1:]]
    grows = _growing(operation)
    second: tuple[Value, ...] = ()

    def before(number: int) -> tuple[Value, ...]:
        """What is passed to a round."""
        if number < 2:
            return second if number else first
        return tuple(
            _after(operation, one, two, number, type) if is_even else unknown(type, operation.location)
            for one, two, type, is_even in zip(first, second, types, grows, strict=True)
        )

    start, step = counter
    spread = {(count - 1) * place // (_LOOKED_AT - 1) for place in range(_LOOKED_AT)}
    for number in sorted({0, 1, count - 2, count - 1} | spread):
        passed = step.product(Affine.uniform(number))
        assert passed is not None
        frame.set(block.arguments, (Value(start.plus(passed)), *before(number)))
        found = machine.block(block, frame)
        second = second or found
    return before(count)


def _after(operation: Operation, first: Value, second: Value, rounds: int, type: Type) -> Value:
    """What has become of a value after some rounds, of which the first made the second of it."""
    doubts = joined([first.undefined, second.undefined]), joined([first.wrapped, second.wrapped])
    edge = 1 << 63 if type.element in ("ptr", "index") else 1 << (int(type.element[1:]) - 1)
    if first.affine is not None and second.affine is not None:
        reached = first.affine.plus(second.affine.minus(first.affine).times(rounds)).exact()
        low, high = reached.bounds
        if -edge <= low and high < edge:
            return Value(reached, *doubts)
        wide = reached.tensor(torch.int64)
    elif isinstance(first.data, Rows) and isinstance(second.data, Rows) and type.is_pointer:
        return Value(_rows_after(first.data, second.data, rounds), *doubts)
    else:
        one, two = (value.tensor(type).to(torch.int64) for value in (first, second))
        wide = one + (two - one) * rounds
    sound = (wide >= -edge) & (wide <= edge - 1)
    fresh = None if bool(sound.all()) else Doubt(sound, operation.location)
    return Value(wide.to(dtype_of(type)), doubts[0], joined([doubts[1], fresh]))


def _rows_after(first: Rows, second: Rows, rounds: int) -> Rows:
    base = first.base + (second.base - first.base) * rounds
    strides = tuple(one + (two - one) * rounds for one, two in zip(first.strides, second.strides, strict=True))
    low, high = (int(edge) for edge in torch.aminmax(base))
    return Rows(base, strides, first.shape, low, high)


def _growing(operation: Operation) -> Sequence[bool]:
    """For each value that a loop carries, whether every round adds the same to it."""
    block = operation.regions[0].block
    inside = set(block.arguments)
    for one in blocks_in([block]):
        inside |= {*one.results, *(number for region in one.regions for b in region.blocks for number in b.arguments)}
    makers = {result: one for one in block.operations for result in one.results}

    @cache
    def is_same(number: int) -> bool:
        """Whether a value is the same in every round."""
        maker = makers.get(number)
        if maker is None or maker.regions or maker.name.startswith(_ACCESSES):
            return number not in inside
        return all(is_same(operand) for operand in maker.operands)

    @cache
    def grows(number: int, argument: int) -> bool:
        if number == argument:
            return True
        maker = makers.get(number)
        if maker is None or maker.name not in (*_SUMS, "arith.subi"):
            return False
        left, right = maker.operands
        if grows(left, argument) and is_same(right):
            return True
        return maker.name == "arith.addi" and is_same(left) and grows(right, argument)

    passed = block.operations[-1].operands
    return [grows(number, argument) for number, argument in zip(passed, block.arguments[1:], strict=True)]
