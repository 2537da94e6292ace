"""TAN108: a quotient is cast to 8 bits and may be larger than they hold."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.value import Step, Value
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule

_NARROW = {
    "i8": "int8 wraps outside -128 to 127",
    "u8": "uint8 wraps outside 0 to 255",
    "fp8": "float8 overflows to inf or nan",
}
_LIMITS = frozenset({"clamp", "minimum", "maximum"})
_ROUNDINGS = frozenset({"rint", "floor", "ceil", "where", "Minus", "either"})
_DEEPEST = 24


class NarrowCastUnclamped(Rule):
    code, name = "TAN108", "narrow-cast-unclamped"
    summary = "Data divided by a stored scale are cast to 8 bits without a clamp."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for step in kernel.steps:
            if step.operation != "cast" or step.node is None:
                continue
            value, result = step.operands[0], step.operands[-1]
            if result.dtype not in _NARROW or value.upper is not None or value.lower is not None:
                continue
            scaled = _scaled(value)
            if scaled is not None and scaled.node is not None:
                yield Hit(
                    step.node,
                    f"data scaled by what another kernel stored are cast with no clamp: {_NARROW[result.dtype]}",
                    remedy="clamp before the cast: `tl.clamp(x, low, high)`",
                    confidence=None if result.dtype != "fp8" else Confidence.LOW,
                    related=((scaled.node, "they are scaled here"),),
                )


def _scaled(value: Value) -> Step | None:
    """The product or quotient of data and a loaded scale that is rounded and cast, with no limit on the way."""
    for _ in range(_DEEPEST):
        step = value.made
        if step is None or step.operation in _LIMITS:
            return None
        if step.operation in ("Multiply", "Divide"):
            return step if _is_loaded(step.operands[1]) and step.operands[0].raw else None
        if step.operation in ("Add", "Subtract"):
            constants = [operand.const is not None for operand in step.operands]
            if constants != [False, True]:
                return None
        elif step.operation not in _ROUNDINGS:
            return None
        operands = [v for v in step.operands if v.made is not None and v.dtype != "i1"]
        if len(operands) != 1:
            return None
        value = operands[0]
    return None


def _is_loaded(value: Value) -> bool:
    """A scale as loaded, or one over it."""
    step = value.made
    if step is not None and step.operation == "Divide" and step.operands[0].const is not None:
        step = step.operands[1].made
    return step is not None and step.operation == "load"
