"""An independent judge of arithmetic: Python's integers and fractions, and rounding by definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import torch
from hypothesis import strategies as st

from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.elementwise import compute

BITS = {"f16": torch.int16, "bf16": torch.int16, "f32": torch.int32, "f64": torch.int64}
WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
"""Bits of the significand, and the exponents of the least and the largest normal numbers."""

INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")


def rounded(value: Fraction, element: str) -> float:
    """To nearest, ties to even; what is too large is infinite. A result of 0 has the sign of +0."""
    precision, least, largest = FORMATS[element]
    if value == 0:
        return 0.0
    magnitude = abs(value)
    exponent = math.floor(math.log2(magnitude.numerator) - math.log2(magnitude.denominator))
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    unit = Fraction(2) ** (max(exponent, least) - precision + 1)
    whole = round(magnitude / unit) * unit
    result = math.inf if whole >= Fraction(2) ** (largest + 1) else float(whole)
    return -result if value < 0 else result


def wrapped(number: int, element: str) -> int:
    """In two's complement, signed."""
    half = 1 << (WIDTHS[element] - 1)
    return (number + half) % (2 * half) - half


def unsigned(number: int, element: str) -> int:
    return number % (1 << WIDTHS[element])


def integers(element: str) -> st.SearchStrategy[int]:
    half = 1 << (WIDTHS[element] - 1)
    edges = st.sampled_from([0, 1, -1, 2, -2, 3, half - 1, -half, -half + 1, WIDTHS[element], WIDTHS[element] - 1])
    return edges | st.integers(-half, half - 1) | st.integers(-100, 100).map(lambda number: wrapped(number, element))


def floats(element: str) -> st.SearchStrategy[float]:
    """All of the type: any pattern of bits, edges and small numbers."""
    precision, least, largest = FORMATS[element]
    edges = [0.0, 1.0, 1.5, 3.0, math.inf, math.nan, 2.0**least, 2.0 ** (least - precision + 1)]
    edges += [(2.0 - 2.0 ** (1 - precision)) * 2.0**largest, 1 + 2.0 ** (1 - precision)]
    patterns = integers(f"i{WIDTHS[element]}").map(lambda bits: of_bits(bits, element))
    return st.sampled_from([*edges, *(-edge for edge in edges)]) | patterns | st.integers(-64, 64).map(float)


def of_bits(bits: int, element: str) -> float:
    return torch.tensor([bits], dtype=BITS[element]).view(dtype_of(Type(element))).double().item()


def tensor(values: Sequence[float], element: str) -> torch.Tensor:
    """For one program, a block of one axis."""
    dtype = dtype_of(Type(element))
    return (
        torch.tensor([values], dtype=torch.float64).to(dtype)
        if element[0] in "fb"
        else torch.tensor([values], dtype=dtype)
    )


def run(
    name: str, operands: Sequence[Sequence[float]], element: str, result: str = "", **attributes: object
) -> list[float]:
    """The operation on a block of these elements."""
    found = computed(name, [tensor(values, element) for values in operands], element, result, **attributes)
    assert found.dtype == dtype_of(Type(result or element))
    return (found.double() if found.is_floating_point() else found)[0].tolist()


def computed(
    name: str, tensors: Sequence[torch.Tensor], element: str, result: str = "", **attributes: object
) -> torch.Tensor:
    types = [Type(element, each.shape[1:]) for each in tensors]
    return compute(Operation(name, attributes=attributes), tensors, types, Type(result or element, types[0].shape))


def assert_same(found: Sequence[float], expected: Sequence[float]) -> None:
    """Bit for bit, with one NaN."""
    assert list(map(_key, found)) == list(map(_key, expected))


def _key(value: float) -> tuple[float, bool] | str:
    return "nan" if math.isnan(value) else (value, math.copysign(1, value) < 0)
