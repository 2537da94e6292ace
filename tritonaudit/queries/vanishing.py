"""What becomes 0 when all the data are 0, or when none of them passes a test: divisors that a kernel has to guard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.value import INTEGERS, Step, Value

if TYPE_CHECKING:
    from libcst import CSTNode

COMPARISONS = frozenset({"LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual", "Equal", "NotEqual"})
_DEEPEST = 48


class Measure(Enum):
    """What of the data a divisor is."""

    LARGEST = "the largest magnitude of the data"
    SQUARES = "a sum of squares of the data"
    COUNT = "a count of the elements that pass a test"
    PARTS = "a sum of stored parts, each with a weight"
    SUM = "a sum of the data"


@dataclass(frozen=True)
class Divisor:
    """A division by, or a logarithm of, something that may be 0: where, what of the data it is, and where it is made.

    `operation` is `Divide`, `rsqrt`, `log` or `log2`; `swallowed` says that a clamp, a comparison or a cast to an
    integer makes an ordinary number of the result, nan or not.
    """

    node: CSTNode
    operation: str
    measure: Measure
    made: CSTNode
    swallowed: bool


_OPERATIONS = {"Divide": 1, "rsqrt": 0, "log": 0, "log2": 0}


def divisors(flow: KernelFlow) -> Iterator[Divisor]:
    """The divisors of a kernel that may be 0, and that it compares with nothing; each once, where it divides first."""
    compared = {id(v.made) for s in flow.steps if s.operation in COMPARISONS for v in s.operands if v.made is not None}
    seen: set[int] = set()
    for step in flow.steps:
        index = _OPERATIONS.get(step.operation)
        if index is None or index >= len(step.operands):
            continue
        trail = _Trail()
        if not trail.vanishes(step.operands[index]) or trail.made & compared:
            continue
        found = trail.measure()
        if found is not None and step.node is not None and id(found[1]) not in seen:
            seen.add(id(found[1]))
            yield Divisor(step.node, step.operation, *found, _is_swallowed(flow, step))


_LIMITS = frozenset({"clamp", "minimum", "maximum"})
_PASSING = frozenset({"Multiply", "Divide", "Add", "Subtract", "Minus", "rint", "floor", "ceil", "where", "either"})


def _is_swallowed(flow: KernelFlow, made: Step) -> bool:
    """Whether an operation after it, in the kernel or in a helper, takes away what is not a number."""
    carriers = {made}
    for step in flow.all_steps:
        if step.operands and any(operand.made in carriers for operand in step.operands if operand.made is not None):
            if step.operation in _LIMITS | COMPARISONS or (
                step.operation == "cast" and step.operands[-1].dtype in INTEGERS
            ):
                return True
            if step.operation in _PASSING:
                carriers.add(step)
    return False


class _Trail:
    """The steps on which it depends that a value is 0."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}
        self._steps: list[Step] = []
        self._depth = 0

    @property
    def made(self) -> set[int]:
        return {id(step) for step in self._steps}

    def vanishes(self, value: Value) -> bool:
        """Whether it is 0 where the data are; False where that is unknown."""
        if value.const is not None:
            return bool(value.const == 0)
        step = value.made
        if step is None or self._depth > _DEEPEST:
            return False
        if id(step) not in self._known:
            self._known[id(step)] = False
            self._depth += 1
            self._known[id(step)] = self._by_step(step, value)
            self._depth -= 1
            if self._known[id(step)]:
                self._steps.append(step)
        return self._known[id(step)]

    def _by_step(self, step: Step, value: Value) -> bool:
        operands = step.operands
        match step.operation:
            case "load":
                return value.is_block
            case "abs" | "sqrt" | "Minus" | "max" | "min" | "cumsum" | "rint" | "sum":
                return self.vanishes(operands[0])
            case "Multiply":
                return any(self.vanishes(operand) for operand in operands)
            case "Divide":
                return self.vanishes(operands[0])
            case "either":
                return any(self.vanishes(operand) for operand in operands if operand.const is None)
            case "Add" | "Subtract" | "maximum" | "minimum" | "carried":
                return all(self.vanishes(operand) for operand in operands)
            case "where" if len(operands) == 3:
                return all(self.vanishes(operand) for operand in operands[1:])
            case "BitAnd":
                return any(self.vanishes(operand) for operand in operands)
            case name if name in COMPARISONS:
                return any(_is_data(operand) for operand in operands)
        return False

    def measure(self) -> tuple[Measure, CSTNode] | None:
        """What the value is, by the reduction nearest to it, and where that stands."""
        for step in reversed(self._steps):
            if step.operation in ("max", "sum") and step.node is not None:
                return self._measured(step), step.node
        return None

    def _measured(self, step: Step) -> Measure:
        inside = _inside(step)
        if step.operation == "max":
            return Measure.LARGEST if any(s.operation == "abs" for s in inside) else Measure.SUM
        if any(s.operation in COMPARISONS for s in inside if id(s) in self.made):
            return Measure.COUNT
        if any(map(_is_square, inside)):
            return Measure.SQUARES
        return Measure.PARTS if self._is_weighted(step.operands[0].made) else Measure.SUM

    def _is_weighted(self, step: Step | None) -> bool:
        """A product of loaded data and of something that is not 0 with them."""
        if step is None or step.operation != "Multiply":
            return False
        weights = [value for value in step.operands if not self.vanishes(value)]
        if len(weights) != 1 or weights[0].shape == () or weights[0].const is not None:
            return False
        return not _is_nan_of_nothing(weights[0])


def _is_nan_of_nothing(weight: Value) -> bool:
    """`exp(x - max(x))`, where the masked lanes of `x` are -inf: where there are no others it is nan, and not 0."""
    difference = weight.made.operands[0].made if weight.made is not None and weight.made.operands else None
    if difference is None or difference.operation != "Subtract":
        return False
    largest = difference.operands[1].made
    if largest is None or largest.operation != "max":
        return False
    return any(padding.fill == -math.inf for padding in largest.operands[0].paddings)


def _is_data(value: Value) -> bool:
    return value.made is not None and value.made.operation == "load" and value.is_block


def _is_square(step: Step) -> bool:
    return step.operation == "Multiply" and same(*step.operands)


def same(left: Value, right: Value) -> bool:
    """Whether the two are certainly one value, but for casts and layout."""
    return left is right or (left.made is not None and left.made is right.made)


def _inside(step: Step) -> list[Step]:
    """The steps that make the operand of a reduction, up to the loads and the reductions before it."""
    found: dict[int, Step] = {}
    stack = [step.operands[0].made]
    while stack and len(found) < 64:
        inner = stack.pop()
        if inner is None or id(inner) in found:
            continue
        found[id(inner)] = inner
        if inner.operation not in ("load", "max", "sum"):
            stack.extend(operand.made for operand in inner.operands)
    return list(found.values())
