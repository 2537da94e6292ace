"""Functions that kernels call by symbol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.numerics.judge import assert_same, computed, floats, integers, rounded, run, unsigned, wrapped
from tritonaudit.simulator.numerics.bounds import ulp_distance
from tritonaudit.simulator.numerics.unsupported import Unsupported


def called(symbol: str, operands: Sequence[Sequence[float]], element: str, result: str = "") -> list[float]:
    return run("tt.extern_elementwise", operands, element, result, symbol=symbol)


def test_unknown_symbol() -> None:
    with pytest.raises(Unsupported, match="__nv_tgammaf"):
        called("__nv_tgammaf", [[1.0]], "f32")


@pytest.mark.parametrize(
    ("symbol", "operands", "expected"),
    [
        ("__nv_exp10f", [[2.0, -1.0]], [100.0, 0.1]),
        ("__nv_powf", [[2.0, -3.0, 0.5], [10.0, 3.0, -2.0]], [1024.0, -27.0, 4.0]),
        ("__nv_hypotf", [[3.0, 3e30], [4.0, 4e30]], [5.0, 5e30]),
        ("__nv_rhypotf", [[3.0], [4.0]], [0.2]),
        ("__nv_norm3df", [[1.0], [2.0], [2.0]], [3.0]),
        ("__nv_rcbrtf", [[8.0, -27.0]], [0.5, -1 / 3]),
        ("__nv_sinpif", [[0.5, 1.5]], [1.0, -1.0]),
        ("__nv_cospif", [[0.0, 1.0]], [1.0, -1.0]),
        ("__nv_normcdff", [[0.0, 1.0]], [0.5, 0.8413447460685429]),
        ("__nv_normcdfinvf", [[0.5, 0.8413447460685429]], [0.0, 1.0]),
        ("__nv_erfinvf", [[0.5]], [0.4769362762044699]),
        ("__nv_erfcinvf", [[0.5]], [0.4769362762044699]),
        ("__nv_erfcxf", [[1.0]], [0.427583576155807]),
        ("__nv_lgammaf", [[10.0]], [math.lgamma(10)]),
        ("__nv_cyl_bessel_i0f", [[1.0]], [1.2660658777520084]),
        ("__nv_j0f", [[1.0]], [0.7651976865579666]),
        ("__nv_atan2f", [[1.0, -1.0], [-1.0, -1.0]], [math.atan2(1, -1), math.atan2(-1, -1)]),
        ("__nv_fast_expf", [[1.0]], [math.e]),
        ("__nv_fast_exp10f", [[1.0]], [10.0]),
        ("__nv_fast_logf", [[10.0]], [math.log(10)]),
        ("__nv_fast_log10f", [[100.0]], [2.0]),
        ("__nv_fast_powf", [[2.0], [0.5]], [math.sqrt(2)]),
        ("__nv_fast_tanf", [[1.0]], [math.tan(1)]),
        ("__nv_fast_fdividef", [[1.0], [3.0]], [1 / 3]),
        ("__nv_frsqrt_rn", [[4.0]], [0.5]),
        ("__ocml_tanh_f32", [[0.5]], [math.tanh(0.5)]),
        ("__ocml_i1_f32", [[1.0]], [0.5651591039924851]),
        ("__triton_hip_fast_expf", [[1.0]], [math.e]),
    ],
)
def test_values(symbol: str, operands: list[list[float]], expected: list[float]) -> None:
    found = torch.tensor(called(symbol, operands, "f32"), dtype=torch.float32)
    assert int(ulp_distance(found, torch.tensor(expected)).max()) <= 2 or torch.allclose(
        found, torch.tensor(expected), rtol=0, atol=1e-7
    )


@pytest.mark.parametrize(
    ("symbol", "operands", "expected"),
    [
        ("__nv_fmodf", [[5.5, -5.5, 1.0], [2.0, 2.0, math.inf]], [1.5, -1.5, 1.0]),
        ("__nv_fdimf", [[5.0, 1.0], [2.0, 3.0]], [3.0, 0.0]),
        ("__nv_rintf", [[0.5, 1.5, -2.5]], [0.0, 2.0, -2.0]),
        ("__nv_roundf", [[0.5, 1.5, -2.5, 0.49999997]], [1.0, 2.0, -3.0, 0.0]),
        ("__nv_copysignf", [[1.0, math.inf], [-0.0, -1.0]], [-1.0, -math.inf]),
        ("__nv_nextafterf", [[1.0], [2.0]], [1 + 2.0**-23]),
        ("__nv_saturatef", [[-1.0, 0.5, 2.0, math.nan, -0.0]], [0.0, 0.5, 1.0, 0.0, 0.0]),
        ("__nv_logbf", [[8.0, 0.0, -math.inf, 0.3]], [3.0, -math.inf, math.inf, -2.0]),
    ],
)
def test_exact_values(symbol: str, operands: list[list[float]], expected: list[float]) -> None:
    found = called(symbol, operands, "f32")
    assert_same([x + 0.0 for x in found], expected)


@pytest.mark.parametrize("element", ["f32", "f64"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_scaling(element: str, data: st.DataObject) -> None:
    """By powers of two, rounded where the result is subnormal."""
    values = data.draw(st.lists(floats(element).filter(math.isfinite), min_size=1, max_size=12))
    powers = data.draw(st.lists(st.integers(-320, 320), min_size=len(values), max_size=len(values)))
    x = torch.tensor([values], dtype=torch.float32 if element == "f32" else torch.float64)
    found = computed(
        "tt.extern_elementwise",
        [x, torch.tensor([powers], dtype=torch.int32)],
        element,
        symbol="__nv_ldexpf" if element == "f32" else "__nv_ldexp",
    )
    expected = [rounded(Fraction(v) * Fraction(2) ** n, element) for v, n in zip(values, powers, strict=True)]
    assert [abs(y) for y in found[0].tolist()] == [abs(y) for y in expected]


@pytest.mark.parametrize("operation", ["fadd", "fsub", "fmul", "fdiv"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_rounding_modes(operation: str, data: st.DataObject) -> None:
    """The neighbour that the mode says, of the exact result."""
    usual = st.floats(2.0**-40, 2.0**40, width=32) | st.floats(-(2.0**40), -(2.0**-40), width=32)
    pairs = data.draw(st.lists(st.tuples(usual, usual), min_size=1, max_size=12))
    left, right = zip(*pairs, strict=True)
    for mode in ("rn", "rz", "rd", "ru"):
        found = called(f"__nv_{operation}_{mode}", [left, right], "f32")
        for a, b, result in zip(left, right, found, strict=True):
            x, y = Fraction(a), Fraction(b)
            exact = {"fadd": x + y, "fsub": x - y, "fmul": x * y, "fdiv": x / y}[operation]
            if mode == "rn":
                assert result == rounded(exact, "f32")
            if mode == "rd" or (mode == "rz" and exact > 0):
                above = torch.nextafter(torch.tensor(result), torch.tensor(math.inf)).item()
                assert Fraction(result) <= exact < Fraction(above)
            if mode == "ru" or (mode == "rz" and exact < 0):
                below = torch.nextafter(torch.tensor(result), torch.tensor(-math.inf)).item()
                assert Fraction(below) < exact <= Fraction(result)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(integers("i32"), integers("i32")), min_size=1, max_size=12))
def test_integers(pairs: list[tuple[int, int]]) -> None:
    left, right = zip(*pairs, strict=True)
    assert called("__nv_mulhi", [left, right], "i32") == [a * b >> 32 for a, b in pairs]
    assert called("__nv_hadd", [left, right], "i32") == [(a + b) >> 1 for a, b in pairs]
    assert called("__nv_rhadd", [left, right], "i32") == [(a + b + 1) >> 1 for a, b in pairs]
    averages = [wrapped((unsigned(a, "i32") + unsigned(b, "i32")) >> 1, "i32") for a, b in pairs]
    assert called("__nv_uhadd", [left, right], "i32") == averages
    assert called("__nv_sad", [left, right, left], "i32") == [wrapped(abs(a - b) + a, "i32") for a, b in pairs]
    patterns = [unsigned(a, "i32") for a in left]
    reversed_ = [wrapped(int(f"{pattern:032b}"[::-1], 2), "i32") for pattern in patterns]
    assert called("__nv_brev", [left], "i32") == reversed_
    assert called("__nv_popc", [left], "i32") == [pattern.bit_count() for pattern in patterns]
    assert called("__nv_clz", [left], "i32") == [32 - pattern.bit_length() for pattern in patterns]
    assert called("__nv_ffs", [left], "i32") == [(pattern & -pattern).bit_length() for pattern in patterns]


def test_types() -> None:
    """Results are of the type that the operation says."""
    assert called("__nv_isnanf", [[1.0, math.nan]], "f32", "i32") == [0, 1]
    assert called("__nv_signbitf", [[1.0, -0.0]], "f32", "i32") == [0, 1]
    assert called("__nv_ilogbf", [[8.0, 0.0]], "f32", "i32") == [3, -(2**31)]
    assert called("__nv_llrintf", [[2.5, -1e30]], "f32", "i64") == [2, -(2**63)]
    assert called("__nv_float2int_ru", [[2.1, 1e10]], "f32", "i32") == [3, 2**31 - 1]
    assert called("__nv_float2uint_rz", [[-1.0, 3e9]], "f32", "i32") == [0, 3_000_000_000 - 2**32]
    assert called("__nv_double2float_rd", [[0.1]], "f64", "f32") == [0x1999998 / 2**28]
    assert called("__nv_float_as_int", [[1.0]], "f32", "i32") == [0x3F800000]
    assert called("__nv_double2hiint", [[1.0]], "f64", "i32") == [0x3FF00000]
    assert called("__nv_int2float_rz", [[2**24 + 1, -(2**24) - 1]], "i32", "f32") == [2**24, -(2**24)]
