"""Conversions against fractions, and against tables of the 8-bit formats."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.numerics.judge import (
    FLOATS,
    INTEGERS,
    WIDTHS,
    assert_same,
    computed,
    floats,
    integers,
    rounded,
    run,
    tensor,
    unsigned,
    wrapped,
)
from tritonaudit.simulator.ir import Constant, Type
from tritonaudit.simulator.numerics.elements import constant, dtype_of, item_size, width_of
from tritonaudit.simulator.numerics.unsupported import Unsupported


def nearest(x: float, element: str) -> float:
    if x == 0 or not math.isfinite(x):
        return x
    return math.copysign(rounded(Fraction(x), element), x)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_integers_to_floats(source: str, target: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(integers(source), min_size=1, max_size=24))
    assert run("arith.sitofp", [values], source, target) == [rounded(Fraction(x), target) for x in values]
    positive = [Fraction(unsigned(x, source)) for x in values]
    assert run("arith.uitofp", [values], source, target) == [rounded(x, target) for x in positive]


def test_large_integers_round_once() -> None:
    """Just above a tie of bfloat16, by less than float64 or float32 can tell."""
    values = [(257 << 24) + 1, (257 << 54) + 1, -(257 << 54) - 1, (259 << 54) - 1]
    assert run("arith.sitofp", [values], "i64", "bf16") == [rounded(Fraction(x), "bf16") for x in values]
    assert run("arith.sitofp", [[(257 << 22) + 1]], "i32", "bf16") == [rounded(Fraction((257 << 22) + 1), "bf16")]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_floats_to_integers(source: str, target: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(floats(source), min_size=1, max_size=24))
    width = max(WIDTHS[target], 16)
    of_nan = -(1 << width - 1) if source == "f64" or target == "i64" else 0

    def saturated(x: float, least: int, largest: int) -> int:
        whole = of_nan if math.isnan(x) else largest if x > largest else least if x < least else math.trunc(x)
        return wrapped(whole, target)

    signed = [saturated(x, -(1 << width - 1), (1 << width - 1) - 1) for x in values]
    assert run("arith.fptosi", [values], source, target) == signed
    positive = [saturated(x, 0, (1 << width) - 1) for x in values]
    assert run("arith.fptoui", [values], source, target) == positive


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_floats_to_floats(source: str, target: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(floats(source), min_size=1, max_size=24))
    name = "arith.extf" if WIDTHS[target] > WIDTHS[source] else "arith.truncf"
    assert_same(run(name, [values], source, target), [nearest(x, target) for x in values])


def test_doubles_round_once() -> None:
    """Just above a tie of the narrow type, by less than float32 can tell."""
    for target, unit in (("f16", 2.0**-10), ("bf16", 2.0**-7)):
        x = 1 + unit / 2
        values = [math.nextafter(x, 2), math.nextafter(x, 0), -math.nextafter(x, 2), x]
        assert run("arith.truncf", [values], "f64", target) == [1 + unit, 1, -1 - unit, 1]


@pytest.mark.parametrize("target", ["f16", "bf16"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_toward_zero(target: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(floats("f32").filter(math.isfinite), min_size=1, max_size=24))
    found = run("tt.fp_to_fp", [values], "f32", target, rounding="rtz")
    dtype = dtype_of(Type(target))
    above = torch.nextafter(tensor([abs(x) for x in found], target), torch.full((), math.inf, dtype=dtype))
    for x, result, next_ in zip(values, found, above.double()[0].tolist(), strict=True):
        assert abs(result) <= abs(x) < next_ or abs(result) == torch.finfo(dtype).max
        assert math.copysign(1, x) == math.copysign(1, result)
    assert_same(
        run("tt.fp_to_fp", [[math.inf, -math.inf, math.nan]], "f32", target, rounding="rtz")[:2], [math.inf, -math.inf]
    )


EIGHT_BITS = {
    "f8E4M3FN": (4, 3, 7, 448.0),
    "f8E5M2": (5, 2, 15, 57344.0),
    "f8E4M3FNUZ": (4, 3, 8, 240.0),
    "f8E5M2FNUZ": (5, 2, 16, 57344.0),
}
"""Bits of the exponent and the fraction, the bias, and the largest number."""


def decoded(code: int, element: str) -> float:
    """What a byte says in the format; NaN and infinity are distinguished by what is above the largest number."""
    _, fraction_bits, bias, largest = EIGHT_BITS[element]
    exponent, fraction = code >> fraction_bits & (0x7F >> fraction_bits), code & ((1 << fraction_bits) - 1)
    unit = 2.0 ** (max(exponent, 1) - bias - fraction_bits)
    magnitude = (fraction + (1 << fraction_bits if exponent else 0)) * unit
    if element.endswith("UZ") and code == 0x80:
        return math.nan
    if magnitude > largest:
        magnitude = math.inf if element == "f8E5M2" and not fraction else math.nan
    return -magnitude if code & 0x80 else magnitude


@pytest.mark.parametrize("element", EIGHT_BITS)
@pytest.mark.parametrize("target", ["f16", "bf16", "f32"])
def test_from_eight_bits(element: str, target: str) -> None:
    codes = torch.arange(256).to(torch.uint8).view(dtype_of(Type(element)))[None]
    found = computed("tt.fp_to_fp", [codes], element, target)
    assert_same(found[0].double().tolist(), [decoded(code, element) for code in range(256)])


@pytest.mark.parametrize("element", EIGHT_BITS)
@pytest.mark.parametrize("source", ["f16", "bf16", "f32"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_to_eight_bits(element: str, source: str, data: st.DataObject) -> None:
    """The nearest, of two equally near the even one; what is too large, infinities too, becomes the largest."""
    values = data.draw(st.lists(floats(source) | st.integers(-500, 500).map(float), min_size=1, max_size=24))
    values = tensor(values, source).double()[0].tolist()
    numbers = {code: decoded(code, element) for code in range(128)}
    numbers = {code: x for code, x in numbers.items() if math.isfinite(x)}

    def judge(x: float) -> float:
        if math.isnan(x):
            return x
        magnitude = min(abs(x), EIGHT_BITS[element][3])
        code = min(numbers, key=lambda code: (abs(Fraction(numbers[code]) - Fraction(magnitude)), code & 1))
        return math.copysign(numbers[code], x)

    found = run("tt.fp_to_fp", [values], source, element, rounding="rtne")
    expected = [judge(x) for x in values]
    if element.endswith("UZ"):
        assert [x for x in found if x == x] == [x for x in expected if x == x]
    else:
        assert_same(found, expected)


def test_to_eight_bits_toward_zero() -> None:
    values = [1.99, -1.99, 1e9, math.inf, -math.inf, math.nan, 2.0**-17, 0.0]
    found = run("tt.fp_to_fp", [values], "f32", "f8E5M2", rounding="rtz")
    assert_same(found, [1.75, -1.75, 57344.0, math.inf, -math.inf, math.nan, 0.0, 0.0])
    with pytest.raises(Unsupported, match="rtz to f8E4M3FN"):
        run("tt.fp_to_fp", [values], "f32", "f8E4M3FN", rounding="rtz")


def test_bits_stay() -> None:
    assert run("tt.bitcast", [[1.0, -0.0]], "f32", "i32") == [0x3F800000, -(1 << 31)]
    assert run("arith.bitcast", [[0x3C00]], "i16", "f16") == [1.0]
    with pytest.raises(Unsupported, match="f32 to i64"):
        run("tt.bitcast", [[1.0]], "f32", "i64")


def test_elements() -> None:
    assert width_of(Type("i1")) == 1
    assert item_size(Type("i1")) == 1
    assert width_of(Type("ptr")) == 64
    assert width_of(Type("f8E5M2")) == 8
    with pytest.raises(Unsupported, match="i4"):
        dtype_of(Type("i4"))


def test_constants() -> None:
    splat = constant(Type("f32", (4, 8)), Constant((math.inf,)))
    assert splat.shape == (1, 1, 1)
    assert splat.item() == math.inf
    listed = constant(Type("i8", (2, 2)), Constant((1, -1, 255, 128)))
    assert listed.tolist() == [[[1, -1], [-1, -128]]]
    assert constant(Type("i1"), Constant((-1,))).tolist() == [True]
    assert constant(Type("i64"), Constant((1 << 63,))).tolist() == [-(1 << 63)]
    assert constant(Type("bf16"), Constant((0.1,))).item() == rounded(Fraction(0.1), "bf16")
    assert constant(Type("f8E5M2", (4,)), Constant((1.5,))).dtype == torch.float8_e5m2


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_eight_bits_without_their_sign(element: str) -> None:
    x = torch.arange(-128, 128).to(torch.int8).view(dtype_of(Type(element))).reshape(1, -1)
    found = computed("math.absf", [x], element)
    assert torch.equal(found.float().nan_to_num(9), x.float().abs().nan_to_num(9))
