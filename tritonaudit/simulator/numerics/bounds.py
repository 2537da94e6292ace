"""How far a GPU's result of one operation may be from the rightly rounded one, declared before any is compared.

Where the engine itself does not round rightly (`numerics.mathematics`), its own ulp is counted in. Sources: PTX is the
PTX ISA 9.0 (the instruction's accuracy), CUDA the CUDA C++ Programming Guide's tables of mathematical functions
(section "Mathematical Functions": the maximal error of float and double functions, which libdevice implements),
Triton its PTX for sm_90 by Triton 3.9. Flushed subnormals (`.ftz`) are not in them: `FLUSHES` tells where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tritonaudit.simulator.numerics.rounding import BITS

_HALVES = ("f16", "bf16")
_FLOATS = ("f16", "bf16", "f32", "f64")


@dataclass(frozen=True)
class Bound:
    """An error in ulps, and where it is from."""

    ulps: float
    source: str


_ARITHMETIC = (
    "addf subf mulf negf maximumf minimumf maxnumf minnumf cmpf select extf truncf sitofp uitofp fptosi fptoui bitcast"
)

_ROUNDED = frozenset(f"arith.{name}" for name in _ARITHMETIC.split(" ")) | {
    "math.absf",
    "math.ceil",
    "math.copysign",
    "math.floor",
    "math.fma",
    "math.round",
    "math.roundeven",
    "math.trunc",
    "tt.bitcast",
    "tt.clampf",
    "tt.fp_to_fp",
    "tt.precise_divf",
    "tt.precise_sqrt",
}
"""Exact, or rounded once as IEEE 754 says, in every type (PTX `.rn`)."""

_CUDA = "CUDA, single precision functions; the engine's own 1 ulp added"
_CUDA_DOUBLE = "CUDA, double precision functions; the engine's own 1 ulp added"

_BOUNDS: Mapping[tuple[str, str], Bound] = {
    ("arith.divf", "f32"): Bound(2, "PTX div.full.f32: 2 ulp over the full range"),
    ("arith.divf", "f64"): Bound(0, "PTX div.rn.f64"),
    ("arith.divf", "f16"): Bound(
        1, "Triton divides in f32 by div.full.f32 and rounds: an ulp where that crosses a tie"
    ),
    ("arith.divf", "bf16"): Bound(1, "Triton divides in f32 by div.full.f32 and rounds"),
    ("arith.remf", "f32"): Bound(0, "Triton: div.rn, cvt.rzi and fma.rn, done in the same steps"),
    ("arith.remf", "f64"): Bound(0, "Triton: div.rn, cvt.rzi and fma.rn, done in the same steps"),
    ("math.exp", "f32"): Bound(
        3, "PTX ex2.approx.f32: 2 ulp, of the same rounded product; the engine's own 1 ulp added"
    ),
    ("math.exp2", "f32"): Bound(3, "PTX ex2.approx.ftz.f32: 2 ulp; the engine's own 1 ulp added"),
    ("math.sqrt", "f32"): Bound(2, "PTX sqrt.approx.ftz.f32: relative error 2^-23, up to 2 ulp of the smaller binade"),
    ("math.sqrt", "f64"): Bound(0, "Triton: sqrt.rn.f64"),
    ("math.rsqrt", "f32"): Bound(3, "PTX rsqrt.approx.ftz.f32: relative error 2^-22.9"),
    ("math.log", "f32"): Bound(2, _CUDA),
    ("math.log2", "f32"): Bound(2, _CUDA),
    ("math.log10", "f32"): Bound(3, _CUDA),
    ("math.log1p", "f32"): Bound(2, _CUDA),
    ("math.expm1", "f32"): Bound(2, _CUDA),
    ("math.sin", "f32"): Bound(3, _CUDA),
    ("math.cos", "f32"): Bound(3, _CUDA),
    ("math.tan", "f32"): Bound(5, _CUDA),
    ("math.tanh", "f32"): Bound(3, _CUDA),
    ("math.sinh", "f32"): Bound(4, _CUDA),
    ("math.cosh", "f32"): Bound(3, _CUDA),
    ("math.asin", "f32"): Bound(3, _CUDA),
    ("math.acos", "f32"): Bound(3, _CUDA),
    ("math.atan", "f32"): Bound(3, _CUDA),
    ("math.atan2", "f32"): Bound(4, _CUDA),
    ("math.asinh", "f32"): Bound(4, _CUDA),
    ("math.acosh", "f32"): Bound(5, _CUDA),
    ("math.atanh", "f32"): Bound(4, _CUDA),
    ("math.cbrt", "f32"): Bound(2, _CUDA),
    ("math.powf", "f32"): Bound(5, _CUDA),
    ("math.erf", "f32"): Bound(3, _CUDA),
    ("math.erfc", "f32"): Bound(5, _CUDA),
    ("math.exp", "f64"): Bound(2, _CUDA_DOUBLE),
    ("math.exp2", "f64"): Bound(2, _CUDA_DOUBLE),
    ("math.log", "f64"): Bound(2, _CUDA_DOUBLE),
    ("math.log2", "f64"): Bound(2, _CUDA_DOUBLE),
    ("math.sin", "f64"): Bound(3, _CUDA_DOUBLE),
    ("math.cos", "f64"): Bound(3, _CUDA_DOUBLE),
    ("math.erf", "f64"): Bound(3, _CUDA_DOUBLE),
}

_AS_FUNCTIONS = {
    "acos": "acos",
    "acosh": "acosh",
    "asin": "asin",
    "asinh": "asinh",
    "atan": "atan",
    "atan2": "atan2",
    "atanh": "atanh",
    "cbrt": "cbrt",
    "cos": "cos",
    "cosh": "cosh",
    "erf": "erf",
    "erfc": "erfc",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "pow": "powf",
    "rsqrt": "rsqrt",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
}
"""Functions of libdevice that have the bound of an operation."""

_EXACT = (
    "abs ceil copysign fabs fdim floor fma fmax fmin fmod ldexp logb nearbyint nextafter remainder rint round saturate "
    "scalbn trunc"
)
_EXACT_FUNCTIONS = frozenset(_EXACT.split(" "))
_ROUNDING_MODES = ("_rn", "_rz", "_rd", "_ru")


def _by_name(groups: Mapping[float, str]) -> Mapping[str, float]:
    return {name: ulps for ulps, names in groups.items() for name in names.split(" ")}


_FUNCTIONS: Mapping[str, Mapping[str, float]] = {
    "f32": _by_name(
        {
            2: "cospi exp rcbrt sinpi",
            3: "erfinv exp10 fast_fdivide rhypot rnorm3d rnorm4d",
            4: "hypot norm3d norm4d",
            5: "erfcinv erfcx",
            6: "normcdf normcdfinv",
            7: "cyl_bessel_i0 cyl_bessel_i1",
        }
    ),
    "f64": _by_name(
        {
            2: "cbrt cosh exp exp10 expm1 log10 log1p rcbrt rhypot rnorm3d rnorm4d rsqrt tanh",
            3: "acos asin atan atan2 atanh cospi hypot norm3d norm4d pow powf sinh sinpi tan",
            4: "acosh asinh",
            5: "erfcx",
            6: "erfc erfinv normcdf",
            7: "cyl_bessel_i0 cyl_bessel_i1 erfcinv",
            9: "normcdfinv",
        }
    ),
}
"""Further functions, by libdevice's names without prefix and suffix, with the engine's own ulp."""

FLUSHES = frozenset({("math.exp2", "f32"), ("math.sqrt", "f32"), ("math.rsqrt", "f32")})
"""Operations whose instruction takes subnormal operands, and gives subnormal results, as 0 (`.ftz`)."""


def ulps(operation: str, element: str) -> float | None:
    """How far the GPU's result may be from ours, for elements of `element`; None where nothing is known.

    `operation` is an operation's name, or the symbol of a library's function.
    """
    found = bound(operation, element)
    return None if found is None else found.ulps


def bound(operation: str, element: str) -> Bound | None:
    """As `ulps`, with the source."""
    if element not in _FLOATS:
        return Bound(0, "integers and casts are exact")
    if operation in _ROUNDED:
        return Bound(0, "PTX: rounded to nearest, once")
    if operation.startswith("__nv_"):
        return _of_function(operation.removeprefix("__nv_"), element)
    own = _BOUNDS.get((operation, element))
    return _of_function(operation.removeprefix("math."), element) if own is None and element == "f64" else own


def _of_function(symbol: str, element: str) -> Bound | None:
    """The bound of a function of libdevice, by its symbol without the prefix."""
    name = symbol.removesuffix("f") if element == "f32" else symbol
    if name in _EXACT_FUNCTIONS or name.endswith(_ROUNDING_MODES):
        return Bound(0, "CUDA: exact, or rounded once")
    if (known := _FUNCTIONS.get(element, {}).get(name)) is not None:
        return Bound(known, _CUDA if element == "f32" else _CUDA_DOUBLE)
    return _BOUNDS.get((f"math.{_AS_FUNCTIONS[name]}", element)) if name in _AS_FUNCTIONS else None


def dot_error(length: int, element: str = "f16") -> float:
    """How far a product's element may be from ours, relative to the sum of the magnitudes that were summed.

    `length` is K, `element` that of the operands. Tensor cores add groups of products after aligning and truncating
    them to some bits beyond float32's, so a sum of K terms errs by at most about K units of 2^-23 on top of as many of
    ours (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science, 2021).
    Hopper sums products of 8-bit floats with some 13 bits (DeepSeek-V3 Technical Report, 2024, section 3.3.2). Float64
    is summed one product after the other, rounded to it.
    """
    unit = 2.0**-52 if element == "f64" else 2.0**-13 if element.startswith("f8") else 2.0**-23
    return 2 * (length + 1) * unit


def ulp_distance(a: Tensor, b: Tensor) -> Tensor:
    """How many floats lie between the two plus one, int64; 0 for equals, for NaN and NaN, and for zeros of both signs.

    NaN and a number are as far apart as int64 can say, and so are float64 that are farther apart than that.
    """
    places = [_place(x) for x in torch.broadcast_tensors(a, b)]
    low, high = torch.minimum(*places), torch.maximum(*places)
    farthest = torch.iinfo(torch.int64).max
    apart = high - low
    apart = torch.where(apart < 0, farthest, apart)
    both, either = a.isnan() & b.isnan(), a.isnan() | b.isnan()
    return torch.where(both, 0, torch.where(either, farthest, apart))


def _place(x: Tensor) -> Tensor:
    """The floats in order, zeros at 0."""
    bits = x.contiguous().view(BITS[x.dtype]).to(torch.int64)
    least = torch.iinfo(BITS[x.dtype]).min
    return torch.where(bits < 0, least - bits, bits)
