"""Matrix products."""

from __future__ import annotations

from dataclasses import replace

from tritonaudit.simulator.ir import Operation
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.dot import dot
from tritonaudit.simulator.values import Doubt, Value, joined, mask_tensor


def _dot(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    left, right, total = operation.operands
    types = [frame.type(number) for number in (left, right, total)]
    precision = str(operation.attributes.get("inputPrecision", "ieee"))
    data = dot(frame.tensor(left), frame.tensor(right), frame.tensor(total), types, precision)
    return (Value(data, _doubt(operation, frame)),)


def _doubt(operation: Operation, frame: Frame) -> Doubt | None:
    """A row of the left that holds an undefined element makes a row of the product undefined, a column a column.

    What a mask left out adds nothing to the sums as long as it is 0.
    """
    left, right, total = operation.operands
    found: list[Doubt | None] = [frame[total].undefined]
    for number, axis in ((left, -1), (right, -2)):
        doubt = frame[number].undefined
        if doubt is None or (
            doubt.is_masked and not bool((~mask_tensor(doubt.sound) & (frame.tensor(number) != 0)).any())
        ):
            continue
        sound = mask_tensor(doubt.sound)
        whole = sound.expand(sound.shape[0], *frame.type(number).shape)
        found.append(replace(doubt, sound=whole.all(axis, keepdim=True)))
    return joined(found)


HANDLERS: dict[str, Handler] = {"tt.dot": _dot}
