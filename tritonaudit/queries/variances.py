"""The mean of the squares minus the square of the mean."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.value import Value
from tritonaudit.queries.vanishing import same

_DEEPEST = 40
_PASSED = frozenset({"Add", "either", "carried", "sum"})


def is_one_pass_variance(left: Value, right: Value) -> bool:
    """Whether it is the scaled sum of squares of something less the square of its scaled sum."""
    mean = _rooted(right)
    if mean is None:
        return False
    plain = list(_summands(mean))
    squares = [root for value in _summands(left) if (root := _rooted(value)) is not None]
    return any(same(root, value) for root in squares for value in plain)


def _rooted(value: Value) -> Value | None:
    """`x` of `x * x`."""
    step = value.made
    if step is None or step.operation != "Multiply" or not same(step.operands[0], step.operands[1]):
        return None
    return step.operands[0]


def _summands(value: Value) -> Iterator[Value]:
    """What a sum, kept over loops and scaled by numbers, adds up; nothing where no reduction is."""
    stack, count = [(value, False)], 0
    while stack and count < _DEEPEST:
        (current, reduced), count = stack.pop(), count + 1
        step = current.made
        if reduced:
            yield current
        if step is None:
            continue
        if step.operation in _PASSED:
            over = step.operands[:1] if step.operation == "sum" else step.operands
            stack.extend((operand, reduced or step.operation == "sum") for operand in over)
        elif step.operation == "where" and len(step.operands) == 3:
            stack.append((step.operands[1], reduced))
        elif step.operation == "Divide":
            stack.append((step.operands[0], reduced))
        elif step.operation == "Multiply" and not same(*step.operands):
            stack.extend((operand, reduced) for operand in step.operands if operand.made is not None)
