"""Functions of CUDA's libdevice and AMD's OCML that kernels call by symbol.

Results are within an ulp of the right one, by way of float64. What torch has no function for (gamma, most Bessel
functions, byte permutation) and rounding modes of float64 are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from tritonaudit.simulator.numerics import casts, integers
from tritonaudit.simulator.numerics.floats import exponential, power_of_two, reciprocal_root, square_root
from tritonaudit.simulator.numerics.fma import fma, made_odd, sum_to_odd
from tritonaudit.simulator.numerics.mathematics import MATHEMATICS, Function, by_double
from tritonaudit.simulator.numerics.rounding import downward, toward_zero, upward

_LOW_HALF = 0xFFFFFFFF


def _scaled(x: Tensor, exponent: Tensor) -> Tensor:
    """`x * 2**exponent`; of float64 in three steps, the first of which alone may make it subnormal and round."""
    if x.dtype == torch.float32:
        return (x.double() * torch.exp2(exponent.double().clamp(-400, 400))).to(torch.float32)
    mantissa, own = torch.frexp(x)
    total = (own.to(torch.int64) + exponent).clamp(-1200, 1200)
    upper = total.clamp(min=-1000)
    half = upper >> 1
    grown = mantissa * torch.exp2(half.double()) * torch.exp2((upper - half).double())
    return torch.where(x.isfinite() & (x != 0), grown * torch.exp2((total - upper).double()), x)


def _exponent(x: Tensor) -> Tensor:
    """The exponent of the leading bit; of 0 and NaN the least integer, of infinity the largest, as CUDA's `ilogb`."""
    exponent = torch.frexp(x)[1].to(torch.int64) - 1
    limits = torch.iinfo(torch.int32)
    return torch.where((x == 0) | x.isnan(), limits.min, torch.where(x.isinf(), limits.max, exponent))


def _positive_difference(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x <= y, 0, x - y)


def _saturated(x: Tensor) -> Tensor:
    """Between 0 and 1; NaN gives 0."""
    return torch.where(x > 0, x.clamp(max=1), 0)


def _normal_distribution(x: Tensor) -> Tensor:
    return torch.erfc(x * -math.sqrt(0.5)) / 2


def _norm(*parts: Tensor) -> Tensor:
    """In float64, which single parts cannot overflow."""
    return torch.sqrt(sum((part * part for part in parts), start=torch.zeros((), dtype=torch.float64)))


def _integer_power(base: Tensor, exponent: Tensor) -> Tensor:
    return torch.pow(base.double(), exponent.double()).to(base.dtype)


def _as_float(x: Tensor) -> Tensor:
    return x.view(torch.float32)


def _as_double(x: Tensor) -> Tensor:
    return x.view(torch.float64)


def _as_int(x: Tensor) -> Tensor:
    return x.view(torch.int32)


def _as_long(x: Tensor) -> Tensor:
    return x.view(torch.int64)


def _joined_double(high: Tensor, low: Tensor) -> Tensor:
    return ((high.to(torch.int64) << 32) | (low.to(torch.int64) & _LOW_HALF)).view(torch.float64)


def _low_int(x: Tensor) -> Tensor:
    return x.view(torch.int64).to(torch.int32)


def _high_int(x: Tensor) -> Tensor:
    return (x.view(torch.int64) >> 32).to(torch.int32)


def _low_24(x: Tensor) -> Tensor:
    return (x << 8) >> 8


def _multiply_24(a: Tensor, b: Tensor) -> Tensor:
    return _low_24(a) * _low_24(b)


def _multiply_24_unsigned(a: Tensor, b: Tensor) -> Tensor:
    return (a & 0xFFFFFF) * (b & 0xFFFFFF)


def _absolute_sum(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return ((a.to(torch.int64) - b).abs() + c).to(torch.int32)


def _average(a: Tensor, b: Tensor) -> Tensor:
    return ((a.to(torch.int64) + b) >> 1).to(torch.int32)


def _average_rounded(a: Tensor, b: Tensor) -> Tensor:
    return ((a.to(torch.int64) + b + 1) >> 1).to(torch.int32)


def _first_set(x: Tensor) -> Tensor:
    """The place of the lowest bit that is set, counted from 1; 0 where none is."""
    return torch.where(x == 0, 0, integers.trailing_zeros(x) + 1)


# -- rounding modes ----------------------------------------------------------------------------------------------------


def _add_odd(a: Tensor, b: Tensor) -> Tensor:
    left, right = a.double(), b.double()
    return sum_to_odd(left, right, left + right)


def _subtract_odd(a: Tensor, b: Tensor) -> Tensor:
    return _add_odd(a, -b)


def _multiply_exactly(a: Tensor, b: Tensor) -> Tensor:
    return a.double() * b.double()


def _divide_odd(a: Tensor, b: Tensor) -> Tensor:
    left, right = a.double(), b.double()
    quotient = left / right
    rest = fma(-quotient, right, left)
    return made_odd(quotient, rest * right.sign())


def _reciprocal_odd(x: Tensor) -> Tensor:
    return _divide_odd(torch.ones_like(x), x)


def _root_odd(x: Tensor) -> Tensor:
    wide = x.double()
    root = torch.sqrt(wide)
    return made_odd(root, fma(-root, root, wide))


def _fma_odd(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    product, addend = a.double() * b.double(), c.double()
    return sum_to_odd(product, addend, product + addend)


_MODES: Mapping[str, Function] = {
    "rn": lambda x: x.to(torch.float32),
    "rz": lambda x: toward_zero(x, torch.float32),
    "rd": lambda x: downward(x, torch.float32),
    "ru": lambda x: upward(x, torch.float32),
}
"""How what float64 holds exactly, or rounded to odd, becomes float32."""

_ODD: Mapping[str, Function] = {
    "fadd": _add_odd,
    "fsub": _subtract_odd,
    "fmul": _multiply_exactly,
    "fdiv": _divide_odd,
    "frcp": _reciprocal_odd,
    "fsqrt": _root_odd,
    "fmaf": _fma_odd,
    "double2float": lambda x: x,
    "int2float": lambda x: x.double(),
    "uint2float": lambda x: casts.from_unsigned(x, torch.float64),
}

_IN_DOUBLE: Mapping[str, Function] = {
    "dadd": torch.add,
    "dsub": torch.sub,
    "dmul": torch.mul,
    "ddiv": torch.true_divide,
    "drcp": torch.reciprocal,
    "dsqrt": square_root,
    "fma": fma,
    "int2double": lambda x: x.double(),
    "uint2double": lambda x: casts.from_unsigned(x, torch.float64),
    "ll2double": lambda x: x.double(),
    "ull2double": lambda x: casts.from_unsigned(x, torch.float64),
    "ll2float": lambda x: x.to(torch.float32),
    "ull2float": lambda x: casts.from_unsigned(x, torch.float32),
}
"""To nearest alone."""

_TO_WHOLE: Mapping[str, Function] = {"rn": torch.round, "rz": torch.trunc, "rd": torch.floor, "ru": torch.ceil}

_WHOLE_TYPES: Mapping[str, tuple[Function, torch.dtype]] = {
    "int": (casts.to_signed, torch.int32),
    "uint": (casts.to_unsigned, torch.int32),
    "ll": (casts.to_signed, torch.int64),
    "ull": (casts.to_unsigned, torch.int64),
}


def _composed(first: Function, second: Function) -> Function:
    return lambda *operands: second(first(*operands))


def _to_integer(mode: Function, convert: Function, dtype: torch.dtype) -> Function:
    return lambda x: convert(mode(x), dtype)


# -- tables ------------------------------------------------------------------------------------------------------------

_SHARED: dict[str, Function] = {
    name: MATHEMATICS[name]
    for name in (
        "ceil",
        "floor",
        "trunc",
        "round",
        "copysign",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "rsqrt",
        "cbrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "erfc",
    )
} | {
    "exp10": by_double(lambda x: torch.pow(10.0, x)),
    "fabs": torch.abs,
    "fma": fma,
    "fmod": torch.fmod,
    "fdim": _positive_difference,
    "hypot": by_double(torch.hypot),
    "pow": by_double(torch.pow),
    "ldexp": _scaled,
    "nearbyint": torch.round,
    "rint": torch.round,
    "nextafter": torch.nextafter,
    "ilogb": _exponent,
    "erfinv": by_double(torch.erfinv),
}
"""Of float32 and float64 alike, by their names in both libraries."""

_CUDA: dict[str, Function] = {
    "scalbn": _scaled,
    "powi": _integer_power,
    "rcbrt": by_double(lambda x: 1 / MATHEMATICS["cbrt"](x)),
    "sinpi": by_double(lambda x: torch.sin(math.pi * torch.fmod(x, 2))),
    "cospi": by_double(lambda x: torch.cos(math.pi * torch.fmod(x, 2))),
    "normcdf": by_double(_normal_distribution),
    "normcdfinv": by_double(torch.special.ndtri),
    "erfcinv": by_double(lambda x: torch.special.ndtri(x / 2) * -math.sqrt(0.5)),
    "norm3d": by_double(_norm),
    "norm4d": by_double(_norm),
    "rnorm3d": by_double(_composed(_norm, torch.reciprocal)),
    "rnorm4d": by_double(_composed(_norm, torch.reciprocal)),
    "rhypot": by_double(_composed(torch.hypot, torch.reciprocal)),
    "cyl_bessel_i0": by_double(torch.special.i0),
    "cyl_bessel_i1": by_double(torch.special.i1),
    "j0": by_double(torch.special.bessel_j0),
    "j1": by_double(torch.special.bessel_j1),
    "y0": by_double(torch.special.bessel_y0),
    "y1": by_double(torch.special.bessel_y1),
    "lgamma": by_double(torch.lgamma),
    "erfcx": by_double(torch.special.erfcx),
    "llrint": lambda x: casts.to_signed(torch.round(x), torch.int64),
    "llround": lambda x: casts.to_signed(MATHEMATICS["round"](x), torch.int64),
    "logb": lambda x: torch.where(x == 0, -torch.inf, torch.where(x.isfinite(), _exponent(x).to(x.dtype), x.abs())),
}
"""Of float32 (with a further f) and float64."""

_CUDA_ALONE: dict[str, Function] = {
    "exp": torch.exp,
    "expf": torch.exp,
    "fast_expf": exponential,
    "fast_exp10f": lambda x: power_of_two(x * math.log2(10)),
    "fast_logf": lambda x: torch.log2(x) * math.log(2),
    "fast_log2f": torch.log2,
    "fast_log10f": lambda x: torch.log2(x) * math.log10(2),
    "fast_sinf": torch.sin,
    "fast_cosf": torch.cos,
    "fast_tanf": lambda x: torch.sin(x) / torch.cos(x),
    "fast_powf": lambda x, y: power_of_two(y * torch.log2(x)),
    "fast_fdividef": torch.true_divide,
    "frsqrt_rn": reciprocal_root,
    "saturatef": _saturated,
    "finitef": torch.isfinite,
    "isfinited": torch.isfinite,
    "isinff": torch.isinf,
    "isinfd": torch.isinf,
    "isnanf": torch.isnan,
    "isnand": torch.isnan,
    "signbitf": torch.signbit,
    "signbitd": torch.signbit,
    "abs": torch.abs,
    "llabs": torch.abs,
    "clz": integers.leading_zeros,
    "clzll": integers.leading_zeros,
    "popc": integers.bits_set,
    "popcll": integers.bits_set,
    "brev": integers.bits_reversed,
    "brevll": integers.bits_reversed,
    "ffs": _first_set,
    "ffsll": _first_set,
    "mulhi": integers.multiply_high,
    "mul64hi": integers.multiply_high,
    "umulhi": integers.multiply_high_unsigned,
    "umul64hi": integers.multiply_high_unsigned,
    "mul24": _multiply_24,
    "umul24": _multiply_24_unsigned,
    "sad": _absolute_sum,
    "usad": lambda a, b, c: _absolute_sum(integers.as_unsigned(a), integers.as_unsigned(b), c),
    "hadd": _average,
    "rhadd": _average_rounded,
    "uhadd": lambda a, b: _average(integers.as_unsigned(a), integers.as_unsigned(b)),
    "urhadd": lambda a, b: _average_rounded(integers.as_unsigned(a), integers.as_unsigned(b)),
    "float_as_int": _as_int,
    "float_as_uint": _as_int,
    "int_as_float": _as_float,
    "uint_as_float": _as_float,
    "double_as_longlong": _as_long,
    "longlong_as_double": _as_double,
    "hiloint2double": _joined_double,
    "double2hiint": _high_int,
    "double2loint": _low_int,
}

_AMD: dict[str, Function] = {
    "exp": torch.exp,
    "isfinite": torch.isfinite,
    "isinf": torch.isinf,
    "isnan": torch.isnan,
    "signbit": torch.signbit,
    "pown": _integer_power,
    "i0": by_double(torch.special.i0),
    "i1": by_double(torch.special.i1),
    "j0": by_double(torch.special.bessel_j0),
    "j1": by_double(torch.special.bessel_j1),
    "y0": by_double(torch.special.bessel_y0),
    "y1": by_double(torch.special.bessel_y1),
    "erfcx": by_double(torch.special.erfcx),
}

_AMD_ALONE: dict[str, Function] = {
    "__triton_hip_fast_expf": exponential,
    "__triton_hip_rint": torch.round,
    "__triton_hip_llrint": lambda x: casts.to_signed(torch.round(x), torch.int64),
    "__triton_hip_fabs": torch.abs,
    "__triton_hip_iabs": torch.abs,
    "__triton_hip_fast_fdividef": torch.true_divide,
    "__triton_hip_fast_tanhf": torch.tanh,
    "__ockl_popcount_u32": integers.bits_set,
    "__ockl_popcount_u64": integers.bits_set,
    "__ockl_clz_u32": integers.leading_zeros,
    "__ockl_clz_u64": integers.leading_zeros,
}

FUNCTIONS: Mapping[str, Function] = (
    {f"__nv_{name}": function for name, function in (_SHARED | _CUDA | _CUDA_ALONE).items()}
    | {f"__nv_{name}f": function for name, function in (_SHARED | _CUDA).items()}
    | {
        f"__nv_{name}_{mode}": _composed(function, final)
        for name, function in _ODD.items()
        for mode, final in _MODES.items()
    }
    | {f"__nv_{name}_rn": function for name, function in _IN_DOUBLE.items()}
    | {
        f"__nv_{source}2{target}_{mode}": _to_integer(whole, *conversion)
        for source in ("float", "double")
        for target, conversion in _WHOLE_TYPES.items()
        for mode, whole in _TO_WHOLE.items()
    }
    | {f"__ocml_{name}_{bits}": function for name, function in (_SHARED | _AMD).items() for bits in ("f32", "f64")}
    | _AMD_ALONE
)
"""By symbol; the caller turns the result into the type that the operation says."""
