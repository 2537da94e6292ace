"""Numbers as MLIR prints them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tritonaudit.simulator.ir import Constant, Type

_NUMBER = re.compile(r"[^\s,\[\]]+")
_WORDS = {"true": 1, "false": 0}


@dataclass(frozen=True)
class _Format:
    """A binary floating-point format; `finite` ones have no infinity, `unsigned_zero` ones NaN instead of -0."""

    exponent: int
    mantissa: int
    bias: int
    finite: bool = False
    unsigned_zero: bool = False

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa


# IEEE 754 and the OCP 8-bit floating point specification; for FNUZ, LLVM's APFloat.h.
_FORMATS = {
    "f64": _Format(11, 52, 1023),
    "f32": _Format(8, 23, 127),
    "f16": _Format(5, 10, 15),
    "bf16": _Format(8, 7, 127),
    "f8E5M2": _Format(5, 2, 15),
    "f8E4M3FN": _Format(4, 3, 7, finite=True),
    "f8E5M2FNUZ": _Format(5, 2, 16, finite=True, unsigned_zero=True),
    "f8E4M3FNUZ": _Format(4, 3, 8, finite=True, unsigned_zero=True),
    "f8E4M3B11FNUZ": _Format(4, 3, 11, finite=True, unsigned_zero=True),
}


def number(text: str, element: str) -> int | float:
    """The value of a number of the element type; ValueError if it is none.

    Hexadecimal digits are the bits of a floating-point value, which is how infinities and NaNs are printed.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[:2] == "0x":
        return _from_bits(int(text, 16), element)
    return float(text) if element in _FORMATS else int(text)


def dense(content: str, type: Type) -> Constant:
    """The elements between `dense<` and `>`; ValueError if they are not understood."""
    if content[:1] == '"':
        return Constant(_from_bytes(bytes.fromhex(content.strip('"')[2:]), type.element))
    return Constant(tuple(number(text, type.element) for text in _NUMBER.findall(content)))


def _from_bytes(content: bytes, element: str) -> tuple[int | float, ...]:
    bits = _FORMATS[element].bits if element in _FORMATS else int(element[1:])
    size = max(bits // 8, 1)
    pieces = (content[start : start + size] for start in range(0, len(content), size))
    if element in _FORMATS:
        return tuple(_from_bits(int.from_bytes(piece, "little"), element) for piece in pieces)
    return tuple(int.from_bytes(piece, "little", signed=True) for piece in pieces)


def _from_bits(bits: int, element: str) -> int | float:
    if element not in _FORMATS:
        return bits
    form = _FORMATS[element]
    sign = -1.0 if bits >> (form.bits - 1) else 1.0
    exponent = (bits >> form.mantissa) & ((1 << form.exponent) - 1)
    mantissa = bits & ((1 << form.mantissa) - 1)
    if form.unsigned_zero:
        if sign < 0 and not exponent and not mantissa:
            return math.nan
    elif exponent == (1 << form.exponent) - 1:
        if not form.finite:
            return math.nan if mantissa else sign * math.inf
        if mantissa == (1 << form.mantissa) - 1:
            return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - form.bias - form.mantissa)
    return sign * math.ldexp(mantissa + (1 << form.mantissa), exponent - form.bias - form.mantissa)
