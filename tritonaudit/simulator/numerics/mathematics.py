"""Functions of floats that the `math` dialect and libraries share, within an ulp of the right result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import torch
from torch import Tensor

from tritonaudit.simulator.numerics import floats
from tritonaudit.simulator.numerics.places import anywhere

Function: TypeAlias = Callable[..., Tensor]


def by_double(function: Function) -> Function:
    """`function` in float64, rounded to the type of the operands once more."""

    def computed(*operands: Tensor) -> Tensor:
        return function(*(operand.double() for operand in operands)).to(operands[0].dtype)

    return computed


def cube_root(x: Tensor) -> Tensor:
    """In float64, one step of Newton's method after the power."""
    magnitude = x.abs()
    root = magnitude.pow(1 / 3)
    refined = root - (root * root * root - magnitude) / (3 * root * root)
    return torch.where(refined.isfinite() & (magnitude > 0), refined, root).copysign(x)


def round_half_away(x: Tensor) -> Tensor:
    """Half-way cases away from zero."""
    whole = torch.trunc(x)
    away = ((x - whole).abs() >= 0.5).to(x.dtype)
    return (whole + away.copysign(x)).copysign(x)


MATHEMATICS: Mapping[str, Function] = {
    "absf": torch.abs,
    "ceil": torch.ceil,
    "floor": torch.floor,
    "trunc": torch.trunc,
    "round": round_half_away,
    "roundeven": torch.round,
    "copysign": torch.copysign,
    "exp": floats.exponential,
    "exp2": floats.power_of_two,
    "expm1": torch.expm1,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "sqrt": floats.square_root,
    "rsqrt": floats.reciprocal_root,
    "cbrt": by_double(anywhere(cube_root)),
    "powf": by_double(torch.pow),
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "asin": torch.asin,
    "acos": torch.acos,
    "atan": torch.atan,
    "atan2": by_double(torch.atan2),
    "sinh": by_double(anywhere(torch.sinh)),
    "cosh": by_double(anywhere(torch.cosh)),
    "tanh": torch.tanh,
    "asinh": by_double(anywhere(torch.asinh)),
    "acosh": by_double(anywhere(torch.acosh)),
    "atanh": anywhere(torch.atanh),
    "erf": torch.erf,
    "erfc": torch.erfc,
    "isnan": torch.isnan,
    "isinf": torch.isinf,
    "isfinite": torch.isfinite,
}
"""By the names of the `math` dialect."""
