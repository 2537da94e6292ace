"""Executes sums and products as they are contracted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import torch

from tritonaudit.simulator.arithmetic import elementwise
from tritonaudit.simulator.contraction import PRODUCT, SUMS, Contraction, Plan
from tritonaudit.simulator.ir import Operation
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.fma import fma
from tritonaudit.simulator.values import Value, doubts_of


def handlers_of(plan: Plan) -> dict[str, Handler]:
    """What executes the sums and products of a module."""
    found: dict[str, Handler] = {}
    if plan.sums:
        found |= dict.fromkeys(SUMS, partial(_sum, plan.sums))
    if plan.unneeded:
        found[PRODUCT] = partial(_product, plan.unneeded)
    return found


def _sum(
    sums: Mapping[tuple[str, int], Contraction], machine: Machine, operation: Operation, frame: Frame
) -> tuple[Value, ...]:
    found = sums.get((frame.function.name, operation.results[0]))
    if found is None:
        return elementwise(machine, operation, frame)
    values = frame.operands(operation)
    a, b = (moved(machine, number, found.moves, frame) for number in found.factors)
    c = values[int(found.is_left)].tensor(frame.result(operation))
    if found.is_left and operation.name == "arith.subf":
        c = -c
    return (Value(fma(-a if found.is_negative else a, b, c), *doubts_of(values)),)


def moved(machine: Machine, number: int, moves: tuple[Operation, ...], frame: Frame) -> torch.Tensor:
    """A factor in the shape of the sum."""
    if not moves:
        return frame.tensor(number)
    value = Value(frame.tensor(number))
    inner = Frame(frame.function, frame.programs, has_lanes=frame.has_lanes)
    for move in moves:
        inner.values[move.operands[0]] = value
        (value,) = machine.handlers[move.name](machine, move, inner)
    return value.tensor(frame.type(moves[-1].results[0]))


def _product(
    unneeded: frozenset[tuple[str, int]], machine: Machine, operation: Operation, frame: Frame
) -> tuple[Value, ...]:
    """One that is not needed has what is in doubt, and one element in place of all."""
    if (frame.function.name, operation.results[0]) not in unneeded:
        return elementwise(machine, operation, frame)
    type = frame.result(operation)
    return (Value(torch.zeros([1] * (type.rank + 1), dtype=dtype_of(type)), *doubts_of(frame.operands(operation))),)
