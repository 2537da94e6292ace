"""The predicates of `arith.cmpi` and `arith.cmpf` by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import torch
from torch import Tensor

from tritonaudit.simulator.numerics import integers

Comparison: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def _swapped(compare: Comparison) -> Comparison:
    return lambda a, b: compare(b, a)


def _negated(compare: Comparison) -> Comparison:
    return lambda a, b: ~compare(a, b)


def _ordered(a: Tensor, b: Tensor) -> Tensor:
    return (a == a) & (b == b)


def _ordered_unequal(a: Tensor, b: Tensor) -> Tensor:
    return (a < b) | (a > b)


def _always(answer: bool) -> Comparison:
    return lambda a, b: torch.full(torch.broadcast_shapes(a.shape, b.shape), answer)


INTEGERS: Mapping[str, Comparison] = {
    "eq": torch.eq,
    "ne": torch.ne,
    "slt": torch.lt,
    "sle": torch.le,
    "sgt": torch.gt,
    "sge": torch.ge,
    "ult": integers.less_unsigned,
    "ule": integers.less_or_equal_unsigned,
    "ugt": _swapped(integers.less_unsigned),
    "uge": _swapped(integers.less_or_equal_unsigned),
}

BITS: Mapping[str, Comparison] = {
    "eq": torch.eq,
    "ne": torch.ne,
    "slt": torch.gt,
    "sle": torch.ge,
    "sgt": torch.lt,
    "sge": torch.le,
    "ult": torch.lt,
    "ule": torch.le,
    "ugt": torch.gt,
    "uge": torch.ge,
}
"""Of i1, where a bit that is set is -1 when signed."""

FLOATS: Mapping[str, Comparison] = {
    "false": _always(False),
    "oeq": torch.eq,
    "ogt": torch.gt,
    "oge": torch.ge,
    "olt": torch.lt,
    "ole": torch.le,
    "one": _ordered_unequal,
    "ord": _ordered,
    "ueq": _negated(_ordered_unequal),
    "ugt": _negated(torch.le),
    "uge": _negated(torch.lt),
    "ult": _negated(torch.ge),
    "ule": _negated(torch.gt),
    "une": torch.ne,
    "uno": _negated(_ordered),
    "true": _always(True),
}
