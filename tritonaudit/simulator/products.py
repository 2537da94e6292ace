"""Matrix products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import torch

from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.dot import ScaledOperand, dot, dot_scaled
from tritonaudit.simulator.values import Doubt, Value, joined, mask_tensor

Multiply: TypeAlias = Callable[[Operation, Sequence[torch.Tensor], Sequence[Type]], torch.Tensor]
"""From the operands of a product, and their types: the product."""
MultiplyScaled: TypeAlias = Callable[[Operation, ScaledOperand, ScaledOperand, torch.Tensor, Type], torch.Tensor]
"""The same of operands with scales, the sum that the product is added to, and its type."""


def multiplied(multiply: Multiply, _: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """A product of matrices, and what is in doubt about it."""
    operands = [frame.tensor(number) for number in operation.operands]
    data = multiply(operation, operands, [frame.type(number) for number in operation.operands])
    return (Value(data, _doubt(operation, frame)),)


def _dot(operation: Operation, operands: Sequence[torch.Tensor], types: Sequence[Type]) -> torch.Tensor:
    left, right, total = operands
    return dot(left, right, total, types, precision_of(operation))


def precision_of(operation: Operation) -> str:
    """As what float32 is multiplied."""
    return str(operation.attributes.get("inputPrecision", "ieee"))


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


def multiplied_scaled(multiply: MultiplyScaled, _: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """A product of operands that have scales; the parser's segments tell which of them have any."""
    left, right, total = operation.operands[:3]
    left_scale, right_scale = operation.operand(3), operation.operand(4)
    attributes = operation.attributes
    operands = [
        ScaledOperand(
            frame.tensor(number).expand(-1, *frame.type(number).shape),
            str(attributes[side]),
            None if scale is None else frame.tensor(scale).expand(-1, *frame.type(scale).shape),
            bool(attributes.get(f"{side}_k_pack", True)),
        )
        for number, scale, side in ((left, left_scale, "lhs"), (right, right_scale, "rhs"))
    ]
    start = frame.tensor(total).expand(-1, *frame.type(total).shape)
    data = multiply(operation, operands[0], operands[1], start, frame.result(operation))
    doubts = [frame[number].undefined for number in operation.operands]
    found = joined(doubts)
    nowhere = torch.zeros([1] * (frame.result(operation).rank + 1), dtype=torch.bool)
    return (Value(data, None if found is None else replace(found, sound=nowhere)),)


def _dot_scaled(
    operation: Operation, left: ScaledOperand, right: ScaledOperand, total: torch.Tensor, result: Type
) -> torch.Tensor:
    return dot_scaled(left, right, total, result, is_fast(operation))


def is_fast(operation: Operation) -> bool:
    """Whether a product with scales leaves out what NaN takes."""
    return bool(operation.attributes.get("fastMath"))


HANDLERS: dict[str, Handler] = {
    "tt.dot": partial(multiplied, _dot),
    "tt.dot_scaled": partial(multiplied_scaled, _dot_scaled),
}
