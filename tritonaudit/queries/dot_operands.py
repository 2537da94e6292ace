"""Operands of matrix products whose dtypes are the same for some inputs or flags, and differ for others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.facts import Dot, KernelFlow
from tritonaudit.domains.value import HALF, Value, dtype_parameter

_DEPTH = 4
_NARROW = re.compile(r"bf16|fp16|bfloat16|float16|half", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class OneWay:
    """The operand is `differs` on one way through the kernel, and on another `agrees`, as the other one always is."""

    dot: Dot
    operand: str
    differs: str
    agrees: str


@dataclass(frozen=True, eq=False)
class HardCoded:
    """One operand is cast to `dtype`, whatever the elements of `parameter` are that make up the other."""

    dot: Dot
    dtype: str
    parameter: str


def one_way_operands(flow: KernelFlow) -> Iterator[OneWay]:
    """The operands that are fp32 where a flag is not set, and the narrower dtype of the other one where it is.

    A product under a flag may be under the one that decides.
    """
    for dot in flow.dots:
        if any(guard.constexpr for guard in dot.path):
            continue
        for name, value, other in (("first", dot.left, dot.right), ("second", dot.right, dot.left)):
            if value.dtype is None and other.dtype is not None and _may_be_narrow(other.dtype):
                found = {alternative.dtype for alternative in _alternatives(value)}
                if found == {"fp32", other.dtype}:
                    yield OneWay(dot, name, "fp32", other.dtype)


def hard_coded_operands(flow: KernelFlow) -> Iterator[HardCoded]:
    """The operands cast to one 16-bit dtype, beside elements of a tensor that may have another."""
    for dot in flow.dots:
        for value, other in ((dot.left, dot.right), (dot.right, dot.left)):
            parameter = (other.dtype or "").removeprefix("*")
            if value.dtype in HALF - {"fp8"} and f"*{parameter}" == other.dtype and _is_any(flow, parameter):
                yield HardCoded(dot, value.dtype, parameter)


def _may_be_narrow(dtype: str) -> bool:
    return dtype in HALF or dtype[0] == "*" or dtype_parameter(dtype) is not None


def _alternatives(value: Value, depth: int = 0) -> Iterator[Value]:
    """What the value is on each way that leads to it."""
    made = value.made
    if value.dtype is None and made is not None and made.operation == "either" and depth < _DEPTH:
        for operand in made.operands:
            yield from _alternatives(operand, depth + 1)
    else:
        yield value


def _is_any(flow: KernelFlow, parameter: str) -> bool:
    """Whether the kernel is launched on tensors of the caller's, and neither it nor a wrapper speaks of the dtype."""
    launches = flow.launches.launches
    if not launches or _NARROW.search(flow.name):
        return False
    for launch in launches:
        wrapper = launch.wrapper
        if parameter not in launch.arguments or wrapper is None:
            return False
        if launch.module.says(_NARROW, wrapper):
            return False
    return True
