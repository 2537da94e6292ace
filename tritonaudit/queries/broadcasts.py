"""Blocks of a lower rank that meet the wrong axes of another block: missing axes are added in front."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.value import Shape, Step, Value

if TYPE_CHECKING:
    from libcst import CSTNode

_ELEMENTWISE = frozenset({
    "Add", "Subtract", "Multiply", "Divide", "maximum", "minimum", "fdiv",
    "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual", "Equal", "NotEqual",
})  # fmt: skip
_REDUCTIONS = frozenset({"max", "min", "sum"})


@dataclass(frozen=True, eq=False)
class Misaligned:
    """An operation on a block of shape `block` and one of shape `other`, whose axes are the first of them.

    `reduced` is where the other one was made by reducing that very block, where it was.
    """

    node: CSTNode
    block: str
    other: str
    reduced: CSTNode | None


def misaligned(flow: KernelFlow) -> Iterator[Misaligned]:
    """The operations whose smaller operand fits the first axes of the larger one, and is laid along the last."""
    for step in flow.steps:
        if step.operation not in _ELEMENTWISE or len(step.operands) != 2 or step.node is None:
            continue
        other, block = sorted(step.operands, key=lambda operand: len(operand.shape or ()))
        if not other.shape or block.shape is None or len(other.shape) == len(block.shape):
            continue
        reduced = _reduced(other, block)
        if reduced is not None or _fits_first_only(other.shape, block.shape):
            yield Misaligned(step.node, _written(block.shape), _written(other.shape), reduced)


def _fits_first_only(other: Shape, block: Shape) -> bool:
    """Whether the extents, none of them 1, are those of the block's first axes, and not those of its last."""
    known = [extent for extent in (*other, *block) if extent is not None and extent.value != 1]
    if len(known) != len(other) + len(block) or all(extent.value is not None for extent in known):
        return False  # numbers that differ do not compile, which the front end says
    return block[: len(other)] == other and block[-len(other) :] != other


def _reduced(other: Value, block: Value) -> CSTNode | None:
    """Where the smaller one was made by reducing the last axis of the block itself."""
    made, rank = other.made, len(block.shape or ())
    if made is None or made.operation not in _REDUCTIONS or made.node is None or len(made.operands) < 2:
        return None
    if made.operands[1].const not in (-1, rank - 1) or not _is_made_of(block, made.operands[0]):
        return None
    kept, last = (block.shape or (None, None))[0], (block.shape or (None,))[-1]
    if rank != 2 or kept is None or kept.value == 1 or (kept != last and kept.value is not None):
        return None
    return made.node


def _is_made_of(block: Value, operand: Value) -> bool:
    step: Step | None = operand.made
    return operand is block or (step is not None and step is block.made)


def _written(shape: Shape) -> str:
    return f"({', '.join('?' if extent is None else str(extent) for extent in shape)}{',' * (len(shape) == 1)})"
